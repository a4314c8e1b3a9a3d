import { App, type McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import type { CallTool } from "./bridge.ts";
import { readFailure } from "./failures.ts";
import { InnerFrame } from "./frame.ts";
import { readResult, type Arrival, type ReadableResult } from "./result.ts";
import { NO_INSETS, roomFor } from "./room.ts";
import { SizeReporter } from "./size.ts";
import { BAR_HEIGHT, Stage } from "./stage.ts";
import { applyTheme } from "./theme.ts";
import { HostTransport } from "./transport.ts";
import { unwrapCall, unwrapRejection } from "./unwrap.ts";

const QUIET_MS = 300;
const SILENCE_MS = 60_000;
const READ_TIMEOUT_MS = 60_000;
const HANDSHAKE_MS = 10_000;
/** A late host is still welcome; the line of words after a silence is what tells the person. */
const CONNECT_TIMEOUT_MS = 2 ** 31 - 1;

/** A state replaces another only when it ranks higher, so repeats and strays change nothing. */
const RANK = {
  waiting: 0,
  silent: 1,
  cancelled: 2,
  refused: 3,
  dropped: 4,
  failed: 4,
  none: 4,
  malformed: 5,
  view: 6,
  ended: 7,
} as const;

/** Joins the host, the page and the view. */
class Shell {
  readonly #page: Document;
  readonly #stage: Stage;
  readonly #sizes: SizeReporter;
  readonly #app = new App(
    { name: "connecta program view", version: "1" },
    { availableDisplayModes: ["inline", "fullscreen"] },
    { autoResize: false },
  );
  #state: keyof typeof RANK = "waiting";
  #drawn = false;
  /** Whether the host shook hands in time; early reads wait for it, as only then it says what it runs. */
  #greeted: Promise<boolean> = Promise.resolve(false);
  #handshaken = false;
  #fullscreen = false;
  #frame: InnerFrame | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(page: Document) {
    this.#page = page;
    this.#stage = new Stage(page);
    this.#sizes = new SizeReporter(this.#stage.root, (height) => {
      this.#app.sendSizeChanged({ height }).catch(ignore);
    });
  }

  /** Shakes hands with the host and waits for a result; never rejects. */
  start(host: Window): void {
    const app = this.#app;
    app.addEventListener("toolinput", () => this.#awaitResult());
    app.addEventListener("toolinputpartial", () => this.#awaitResult());
    app.addEventListener("toolresult", (result) => this.#arrive(result));
    app.addEventListener("toolcancelled", ({ reason }) => {
      this.#say("cancelled", reason ? `Cancelled: ${reason}` : "Cancelled.");
    });
    app.addEventListener("hostcontextchanged", ({ displayMode }) => {
      if (displayMode !== undefined) this.#fullscreen = displayMode === "fullscreen";
      this.#follow();
    });
    app.onteardown = () => {
      this.#end();
      return {};
    };
    const connected = app.connect(new HostTransport(host), { timeout: CONNECT_TIMEOUT_MS }).then(
      () => {
        this.#handshaken = true;
        this.#fullscreen = this.#context().displayMode === "fullscreen";
        this.#follow();
        return true;
      },
      () => {
        this.#say("refused", "The host did not start this view.");
        return false;
      },
    );
    this.#greeted = within(HANDSHAKE_MS, connected);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#follow());
    setTimeout(() => this.#say("waiting", "Running\u2026"), QUIET_MS);
    this.#awaitResult();
  }

  #awaitResult(): void {
    clearTimeout(this.#silence);
    if (this.#state !== "waiting") return;
    this.#silence = setTimeout(() => this.#say("silent", "No result has arrived yet."), SILENCE_MS);
  }

  #arrive(result: ReadableResult): void {
    const arrival = readResult(result);
    if (!arrival) return;
    if (arrival.state === "view") this.#render(arrival);
    else if (arrival.state === "none") this.#say("none");
    else this.#say(...wordsOf(arrival));
  }

  #render({ payload }: Extract<Arrival, { state: "view" }>): void {
    if (!this.#enter("view")) return;
    const theme = applyTheme(this.#context(), this.#page.documentElement);
    this.#frame = new InnerFrame(this.#page, payload, theme, this.#callTool);
    this.#stage.showFrame(this.#frame.element);
    this.#layOut();
  }

  /** Replaces what is shown by a line of words, or by nothing. */
  #say(state: keyof typeof RANK, text?: string, code?: string): void {
    if (!this.#enter(state)) return;
    if (text === undefined) this.#stage.clear();
    else this.#stage.showLine(text, code);
    this.#layOut();
  }

  #enter(state: keyof typeof RANK): boolean {
    const repeated = state !== "waiting" && RANK[state] === RANK[this.#state];
    if (repeated || RANK[state] < RANK[this.#state]) return false;
    this.#state = state;
    this.#drawn = true;
    this.#stage.root.dataset.state = state;
    if (state !== "waiting") clearTimeout(this.#silence);
    return true;
  }

  #end(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    clearTimeout(this.#silence);
    this.#sizes.setActive(false);
    this.#frame?.close(readFailure("reads_unavailable", "The host has closed this view."));
  }

  #context(): McpUiHostContext {
    return this.#app.getHostContext() ?? {};
  }

  /** Follows the host's theme and room. */
  #follow(): void {
    if (this.#state === "ended") return;
    const theme = applyTheme(this.#context(), this.#page.documentElement);
    this.#frame?.setTheme(theme);
    this.#layOut();
  }

  #layOut(): void {
    const context = this.#context();
    const viewing = this.#state === "view";
    const full = viewing && this.#fullscreen;
    const other = full ? "inline" : "fullscreen";
    const offered = viewing && context.availableDisplayModes?.includes(other) === true;
    const toggle = { active: full, onToggle: () => void this.#request(other) };
    this.#stage.offerFullscreen(offered ? toggle : undefined);
    const room = roomFor(context, window.innerWidth, offered ? BAR_HEIGHT : 0);
    this.#stage.layOut(full ? undefined : room.height, viewing ? room.insets : NO_INSETS);
    this.#sizes.setActive(this.#handshaken && this.#drawn && !full);
  }

  async #request(mode: "inline" | "fullscreen"): Promise<void> {
    const granted = await this.#app.requestDisplayMode({ mode }).catch(ignore);
    if (!granted) return;
    this.#fullscreen = granted.mode === "fullscreen";
    this.#layOut();
  }

  readonly #callTool: CallTool = async ({ address, args }, signal) => {
    try {
      const connected = this.#handshaken || (await this.#greeted);
      if (!connected || !this.#app.getHostCapabilities()?.serverTools) {
        const message = "This host runs no reads for views; the view shows what it came with.";
        return { ok: false, error: readFailure("reads_unavailable", message) };
      }
      const call = { name: "call_tool", arguments: { address, args, resultMode: "value" } };
      const options = { signal, timeout: READ_TIMEOUT_MS };
      return unwrapCall(await this.#app.callServerTool(call, options));
    } catch (error) {
      return { ok: false, error: unwrapRejection(error) };
    }
  };
}

/**
 * Starts the shell in this window.
 * @param host the window that embeds this one; the same window when nothing does
 */
export function startShell(host: Window): void {
  if (host === window) new Stage(document).showLine("This page is shown by an MCP host.");
  else new Shell(document).start(host);
}

const ignore = () => undefined;

const FAILED = "The call failed.";

function wordsOf(
  arrival: Exclude<Arrival, { state: "view" | "none" }>,
): ["malformed" | "failed" | "refused" | "dropped", string, string?] {
  switch (arrival.state) {
    case "malformed":
      return ["malformed", `This view cannot be shown: ${arrival.message}.`];
    case "failed":
      return ["failed", arrival.message.trim() || FAILED, arrival.code.trim() || "error"];
    case "refused":
      return ["refused", arrival.message.trim() || FAILED];
    case "dropped":
      return ["dropped", "This host removed the view; the text answer stands."];
  }
}

/** `false` when the host has not shaken hands in time. */
async function within(ms: number, connected: Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([connected, late]);
  } finally {
    clearTimeout(timer);
  }
}
