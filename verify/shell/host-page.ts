/** How the hand-made host behaves; everything in it can be cloned. */
export interface HostConfig {
  /** Where the shell is served: a path of the stage. */
  readonly shell: string;
  /** The host's own colours, to see what shines through. */
  readonly scheme: "light" | "dark";
  readonly hostContext: Readonly<Record<string, unknown>>;
  readonly hostCapabilities: Readonly<Record<string, unknown>>;
  /** Messages sent as soon as `ui/initialize` is heard, before it is answered. */
  readonly beforeInit?: readonly unknown[];
  /** `tool-result` parameters sent as soon as the view is initialized. */
  readonly result?: unknown;
  /** How `ui/initialize` is answered. */
  readonly initialize: "once" | "twice" | "never" | "error";
  /** Pixels of the frame in a host that takes no size from its views. */
  readonly frameHeight?: number;
  /** Whether messages from any window are taken, not the view's alone: a host without its check. */
  readonly careless: boolean;
  /** Whether the frame of the view is sandboxed, as it always is but in the control of an attack. */
  readonly sandboxed?: boolean;
}

/** One message that passed between host and view. */
export interface Passed {
  readonly from: "view" | "host";
  readonly message: Readonly<Record<string, unknown>>;
}

/** How a host puts up the same frame once more. */
export type Remount = "reload" | "move";

/** What the host page offers to the test that drives it. */
export interface Host {
  readonly passed: Passed[];
  send(message: unknown): void;
  /** Loads the frame again where it stands, or moves it in the page; until its handshake begins. */
  remount(how: Remount): Promise<void>;
}

/** Answers a view's request; the test supplies it. */
export type Answer = (method: string, params: unknown) => Promise<unknown>;

/** The host: one iframe, a log of messages, and the few answers that a view needs. */
export default function hostPage(config: HostConfig): void {
  type Message = { jsonrpc?: unknown; id?: unknown; method?: string; params?: unknown };
  const passed: Passed[] = [];
  const frame = document.createElement("iframe");
  frame.id = "view";
  if (config.sandboxed !== false) frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width:100%;height:${config.frameHeight ?? 40}px;border:0;display:block`;
  document.documentElement.style.colorScheme = config.scheme;
  document.body.style.cssText = "margin:24px";

  const send = (message: unknown) => {
    passed.push({ from: "host", message: message as Passed["message"] });
    frame.contentWindow?.postMessage(message, "*");
  };
  const reply = (id: unknown, body: object) => send({ jsonrpc: "2.0", id, ...body });
  let onInitialize = () => {};
  const remount = (how: Remount) =>
    new Promise<void>((resolve) => {
      onInitialize = resolve;
      if (how === "reload") frame.src = config.shell;
      else document.body.appendChild(document.createElement("section")).append(frame);
    });

  const initialize = (id: unknown) => {
    onInitialize();
    for (const message of config.beforeInit ?? []) send(message);
    if (config.initialize === "never") return;
    if (config.initialize === "error") return reply(id, { error: { code: -32601, message: "no" } });
    const { hostCapabilities, hostContext } = config;
    const hostInfo = { name: "hand-made", version: "1" };
    const result = { protocolVersion: "2026-01-26", hostInfo, hostCapabilities, hostContext };
    reply(id, { result });
    if (config.initialize === "twice") reply(id, { result });
  };

  const answer = async ({ id, method = "", params }: Message) => {
    const test = window as unknown as { answer: Answer };
    const refusal = (error: unknown) => ({ error: { code: -32000, message: String(error) } });
    reply(id, await test.answer(method, params).then((result) => ({ result }), refusal));
  };

  window.addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow && !config.careless) return;
    const message = data as Message | null;
    if (message?.jsonrpc !== "2.0") return;
    passed.push({ from: "view", message: data as Passed["message"] });
    if (message.method === "ui/initialize") initialize(message.id);
    else if (message.method === "ui/notifications/initialized") {
      if (config.result === undefined) return;
      send({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: config.result });
    } else if (message.method === "ui/notifications/size-changed") {
      const { height } = message.params as { height: number };
      if (config.frameHeight === undefined) frame.style.height = `${height}px`;
    } else if (message.method !== undefined && message.id !== undefined) void answer(message);
  });
  Object.assign(window, { host: { passed, send, remount } satisfies Host });
  frame.src = config.shell;
  document.body.append(frame);
}
