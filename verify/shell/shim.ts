/** What a foreign script in the shell's own window heard and said. */
export interface Shimmed {
  /** The data of each message that the window received. */
  readonly heard: unknown[];
  /** Posts to the host as the shell might, under an id of the shim's own. */
  ask(method: string, params?: unknown): void;
}

/**
 * A script that a host puts before the shell, into the same window: it listens to everything and
 * speaks JSON-RPC to the host on its own, under small ids, as some hosts' helpers do.
 */
export default function shim(): void {
  const heard: unknown[] = [];
  let last = 0;
  const ask = (method: string, params: unknown = {}) =>
    window.parent.postMessage({ jsonrpc: "2.0", id: last++, method, params }, "*");
  window.addEventListener("message", ({ data }) => void heard.push(data));
  Object.assign(window, { shim: { heard, ask } satisfies Shimmed });
  for (let count = 0; count < 8; count++) ask("shim/hello");
  window.parent.postMessage({ jsonrpc: "2.0", method: "shim/ready", params: {} }, "*");
}
