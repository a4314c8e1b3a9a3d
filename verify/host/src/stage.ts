import { HOST_INFO } from "./host-info.ts";
import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type Tool,
} from "@modelcontextprotocol/client";
import { AppBridge, type McpUiHostContext } from "@modelcontextprotocol/ext-apps/app-bridge";
import { button, el, icon } from "./dom.ts";
import { isForViews, type Result } from "./gateway.ts";
import type { MessageLog } from "./messages.ts";
import type { ToolCall } from "./result.ts";
import type { Theme } from "./theme.ts";
import { FrameTransport } from "./transport.ts";

/** What the host lets a mounted view reach. */
export interface ViewServer {
  /** The tool whose result is shown. */
  readonly tool: Tool | undefined;
  /** Finds a tool that a view names. */
  find(name: string): Tool | undefined;
  /** Carries out a call of a view; absent when the host offers no server tools. */
  readonly call?: (call: ToolCall, signal: AbortSignal) => Promise<Result<CallToolResult>>;
}

/** What a view is sent once it is ready, in this order. */
export type Delivery =
  | { readonly kind: "input"; readonly arguments: Record<string, unknown> }
  | { readonly kind: "result"; readonly result: CallToolResult }
  | { readonly kind: "cancelled"; readonly reason: string }
  /** Asks the view to end; its frame stays, as in a host that has yet to take it out of its page. */
  | { readonly kind: "teardown" };

interface Mounted {
  readonly frame: HTMLIFrameElement;
  readonly bridge: AppBridge;
  /** Settles at `initialized`: before it the host sends nothing of its own. */
  readonly ready: Promise<void>;
  isReady: boolean;
}

const TEARDOWN_MS = 500;
const PROXY_MS = 10_000;

/** The place where the current view stands, and the host's side of its bridge. */
export class Stage {
  readonly #place: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #origin: string;
  readonly #log: MessageLog;
  readonly #theme: Theme;
  readonly #onTrouble: (message: string) => void;
  #mounted: Mounted | undefined;
  #context: McpUiHostContext = {};
  #full = false;

  /**
   * @param place element that the view fills
   * @param origin origin of the sandbox proxy
   * @param onTrouble told in a sentence when the view's frame does not come up
   */
  constructor(
    place: HTMLElement,
    origin: string,
    log: MessageLog,
    theme: Theme,
    onTrouble: (message: string) => void,
  ) {
    this.#place = place;
    this.#origin = origin;
    this.#log = log;
    this.#theme = theme;
    this.#onTrouble = onTrouble;
    theme.onChange(() => this.#contextChanged());
    new ResizeObserver(() => this.#contextChanged()).observe(place);
    const close = button({ class: "ghost" }, () => this.setFull(false), icon("shrink"), " Close");
    this.#bar = el("div", { class: "stage-bar" }, close);
    place.append(this.#bar);
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.setFull(false));
  }

  get isFull(): boolean {
    return this.#full;
  }

  /** Takes the old view down and puts up a new one that shows `html`. */
  async mount(html: string, server: ViewServer): Promise<void> {
    await this.unmount();
    this.#log.begin();
    const frame = el("iframe", {
      title: "Rendered view",
      sandbox: "allow-scripts allow-same-origin",
      referrerpolicy: "origin",
      src: `${this.#origin}/sandbox.html`,
    });
    this.#context = this.#describe(server.tool);
    const bridge = this.#bridge(frame, server);
    const ready = new Promise<void>((resolve) => {
      bridge.addEventListener("initialized", () => resolve());
    });
    const slow = setTimeout(() => {
      this.#onTrouble(`The view's own origin, ${this.#origin}, does not answer.`);
    }, PROXY_MS);
    bridge.onsandboxready = () => {
      clearTimeout(slow);
      void bridge.sendSandboxResourceReady({ html });
    };
    const mounted: Mounted = { frame, bridge, ready, isReady: false };
    this.#mounted = mounted;
    bridge.addEventListener("initialized", () => {
      mounted.isReady = true;
      bridge.setHostContext(this.#context);
    });
    this.#place.append(frame);
    const { contentWindow } = frame;
    if (contentWindow) {
      await bridge.connect(new FrameTransport(contentWindow, this.#origin, this.#log));
    }
  }

  /** Sends something to the view that stands now, as soon as it has said that it is ready. */
  async deliver(delivery: Delivery): Promise<void> {
    const mounted = this.#mounted;
    await mounted?.ready;
    if (mounted === undefined || mounted !== this.#mounted) return;
    const { bridge } = mounted;
    if (delivery.kind === "input") await bridge.sendToolInput({ arguments: delivery.arguments });
    else if (delivery.kind === "result") await bridge.sendToolResult(delivery.result);
    else if (delivery.kind === "teardown") await bridge.teardownResource({});
    else await bridge.sendToolCancelled({ reason: delivery.reason });
  }

  /** Asks the view to end, waits a moment for its answer, and removes it. */
  async unmount(): Promise<void> {
    const mounted = this.#mounted;
    if (mounted === undefined) return;
    this.#mounted = undefined;
    this.setFull(false);
    // Before the handshake there is nobody to ask; a view that hangs is not waited for.
    const answered = mounted.isReady
      ? mounted.bridge.teardownResource({}, { timeout: TEARDOWN_MS })
      : Promise.resolve({});
    await answered.catch(() => ({}));
    await mounted.bridge.close();
    mounted.frame.remove();
  }

  /** Lets the view cover the page, or puts it back. */
  setFull(full: boolean): void {
    if (full === this.#full) return;
    this.#full = full;
    this.#place.classList.toggle("full", full);
    this.#place.dispatchEvent(new Event("fullchange"));
    this.#contextChanged();
  }

  #bridge(frame: HTMLIFrameElement, server: ViewServer): AppBridge {
    const { call } = server;
    const bridge = new AppBridge(
      null,
      HOST_INFO,
      { logging: {}, ...(call && { serverTools: {} }) },
      { hostContext: this.#context },
    );
    bridge.onsizechange = ({ height }) => {
      if (typeof height !== "number" || !Number.isFinite(height)) return;
      frame.style.setProperty("--reported-height", `${Math.max(0, Math.ceil(height))}px`);
    };
    bridge.onrequestdisplaymode = async ({ mode }) => {
      this.setFull(mode === "fullscreen");
      return { mode: this.#full ? "fullscreen" : "inline" };
    };
    if (call === undefined) return bridge;
    bridge.oncalltool = async (params, { mcpReq }) => {
      const tool = server.find(params.name);
      if (tool === undefined || !isForViews(tool)) {
        this.#log.refuse(mcpReq.id);
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `The host refuses this call: ${params.name} is not for views.`,
        );
      }
      const answer = await call(params, mcpReq.signal);
      if (answer.ok) return answer.value;
      throw new ProtocolError(ProtocolErrorCode.InternalError, answer.problem.message);
    };
    return bridge;
  }

  #contextChanged(): void {
    if (this.#mounted === undefined) return;
    this.#context = { ...this.#context, ...this.#surroundings() };
    if (this.#mounted.isReady) this.#mounted.bridge.setHostContext(this.#context);
  }

  #describe(tool: Tool | undefined): McpUiHostContext {
    return {
      ...this.#surroundings(),
      availableDisplayModes: ["inline", "fullscreen"],
      locale: navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      userAgent: "connecta-host-page",
      platform: "web",
      ...(tool && { toolInfo: { tool } }),
    };
  }

  #surroundings(): McpUiHostContext {
    const width = this.#place.clientWidth;
    // The bar has a height only while the view covers the page.
    const height = this.#place.clientHeight - this.#bar.offsetHeight;
    const isFlexible = getComputedStyle(this.#place).getPropertyValue("--flexible").trim() === "1";
    const tallest = Math.round(window.innerHeight * 0.75);
    return {
      theme: this.#theme.current,
      styles: { variables: this.#theme.variables() },
      displayMode: this.#full ? "fullscreen" : "inline",
      containerDimensions:
        isFlexible && !this.#full ? { width, maxHeight: tallest } : { width, height },
    };
  }
}
