import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { IN_VIEW, type Driver, type Tab } from "../threats/driver.ts";
import { queue, startProcess, type InTurn } from "../threats/process.ts";
import type { Act } from "../threats/vector.ts";
import { Wire } from "../threats/wire.ts";

const CONTROL_KEY = "\uE009";

/** What a person's profile has, but for what would speak to its maker or hold popups back. */
const PREFERENCES: Readonly<Record<string, unknown>> = {
  "app.update.disabledForTesting": true,
  "browser.aboutwelcome.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.disable_open_during_load": false,
  // The driver would otherwise switch speculative connections off, and more.
  "remote.prefs.recommended": false,
  "toolkit.telemetry.enabled": false,
};

/** Where a Firefox stands: FIREFOX_PATH, else the first on the path; `undefined` without one. */
export function findFirefox(): string | undefined {
  const chosen = process.env["FIREFOX_PATH"] ?? "";
  if (chosen !== "") return existsSync(chosen) ? chosen : undefined;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders
    .flatMap((folder) => ["firefox", "firefox-esr"].map((name) => join(folder, name)))
    .find(existsSync);
}

/** Firefox with a regular profile, driven over WebDriver BiDi. */
export async function startFirefox(): Promise<Driver> {
  const path = findFirefox();
  if (path === undefined) throw new Error("no Firefox was found");
  const browser = await startProcess(path, prepare, /WebDriver BiDi listening on (ws:\S+)/);
  const prompted = new Map<unknown, () => void>();
  const wire = await Wire.connect(`${browser.address}/session`, async (_method, params) => {
    const context = await rootOf(wire, params["context"]);
    prompted.get(context)?.();
    const answer = { context, accept: true };
    wire.send("browsingContext.handleUserPrompt", answer).catch(() => undefined);
  });
  const unhandledPromptBehavior = { default: "ignore" };
  const alwaysMatch = { acceptInsecureCerts: true, unhandledPromptBehavior };
  const session = await wire.send("session.new", { capabilities: { alwaysMatch } });
  await wire.send("session.subscribe", { events: ["browsingContext.userPromptOpened"] });
  const { browserVersion } = session["capabilities"] as Record<string, string>;
  const inTurn = queue();
  return {
    kind: "firefox",
    version: browserVersion ?? "",
    async open(url, onPrompt) {
      // A tab that opens while another closes may be lost.
      const create = () => wire.send("browsingContext.create", { type: "tab" });
      const { context } = await inTurn(create);
      prompted.set(context, onPrompt);
      const tab = tabOf(wire, context, inTurn);
      await tab.go(url);
      return tab;
    },
    async close() {
      wire.close();
      await browser.end();
    },
  };
}

function prepare(folder: string): readonly string[] {
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  writeFileSync(join(folder, "user.js"), lines.join("\n"));
  return ["--headless", "--remote-debugging-port=0", "--no-remote", "--profile", folder];
}

interface Context {
  readonly context: unknown;
  readonly children: readonly Context[] | null;
}

/** The tab that a frame is in. */
async function rootOf(wire: Wire, wanted: unknown): Promise<unknown> {
  const tree = await wire.send("browsingContext.getTree");
  const contexts = tree["contexts"] as readonly Context[];
  const holds = ({ context, children }: Context): boolean =>
    context === wanted || (children ?? []).some(holds);
  return contexts.find(holds)?.context;
}

function tabOf(wire: Wire, context: unknown, inTurn: InTurn): Tab {
  return {
    async go(url) {
      await wire.send("browsingContext.navigate", { context, url, wait: "none" });
    },
    async show() {
      await wire.send("browsingContext.activate", { context });
    },
    async point(shift) {
      const move = { type: "pointerMove", x: IN_VIEW.x + shift, y: IN_VIEW.y };
      await wire.send("input.performActions", { context, actions: [pointer([move])] });
    },
    async act(act) {
      await wire.send("input.performActions", { context, actions: actions(act) });
    },
    async close() {
      await inTurn(() => wire.send("browsingContext.close", { context }));
    },
  };
}

function pointer(actions: readonly unknown[]): unknown {
  return { type: "pointer", id: "pointer", parameters: { pointerType: "mouse" }, actions };
}

function actions(act: Act): readonly unknown[] {
  const button = act === "middle-click" ? 1 : 0;
  const down = [
    { type: "pointerMove", ...IN_VIEW },
    { type: "pointerDown", button },
  ];
  const whole = act === "press" ? down : [...down, { type: "pointerUp", button }];
  if (act !== "ctrl-click") return [pointer(whole)];
  const pause = { type: "pause" };
  const [press, release] = ["keyDown", "keyUp"].map((type) => ({ type, value: CONTROL_KEY }));
  const keys = [press, ...whole.map(() => pause), release];
  return [{ type: "key", id: "keys", actions: keys }, pointer([pause, ...whole])];
}
