/**
 * A view page without any defence, the control of every attack: no policy, no sandbox, one message
 * listener for everybody, reads by bare property lookup, JSON-RPC of anyone passed on to the host.
 */
export default function naive(): void {
  type Message = {
    jsonrpc?: string;
    id?: unknown;
    method?: string;
    params?: { _meta?: { "connecta/ui"?: Payload } };
    result?: { structuredContent?: { data?: unknown } };
    type?: string;
    name?: string;
    args?: Record<string, unknown>;
    binding?: string;
  };
  type Payload = { html: string; reads?: Record<string, Read> };
  type Read = { address: string; fixedArgs?: Record<string, unknown> };

  const host = window.parent;
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:100%;height:440px;border:0;display:block";
  document.body.style.margin = "0";
  document.body.append(frame);
  const replies = new Map<unknown, (value: unknown) => void>();
  let reads: Record<string, Read> = {};
  let last = 100;

  const post = (message: object) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  let ended = false;
  const read = async (message: Message, reply: (answer: object) => void) => {
    const { id, name = "", args = {}, binding } = message;
    if (ended) return reply({ id, ok: true, value: "closed" });
    const { address, fixedArgs } = reads[name] ?? { address: name };
    const merged = { ...fixedArgs, ...args };
    const call = { address: binding ?? address, args: merged, resultMode: "value" };
    const callId = ++last;
    const answered = new Promise((resolve) => replies.set(callId, resolve));
    post({ id: callId, method: "tools/call", params: { name: "call_tool", arguments: call } });
    reply({ id, ok: true, value: await answered });
  };
  const render = ({ html, reads: declared = {} }: Payload) => {
    reads = declared;
    frame.srcdoc = `<script>(${String(prelude)})()</script>${html}`;
  };
  /** In the frame: asks by one message, and believes the first that looks like an answer. */
  const prelude = () => {
    const pending = new Map<unknown, (value: unknown) => void>();
    let count = 0;
    window.addEventListener("message", ({ data }) => {
      if (data?.type === "connecta/closed") for (const settle of pending.values()) settle("closed");
      pending.get(data?.id)?.(data?.value);
      pending.delete(data?.id);
    });
    const ask = (name: string, args: unknown) =>
      new Promise((resolve) => {
        pending.set(++count, resolve);
        const { bindings } = window as { bindings?: unknown };
        const binding = bindings === undefined ? undefined : String(bindings);
        window.parent.postMessage({ type: "read", id: count, name, args, binding }, "*");
      });
    Object.assign(window, { connecta: { read: ask } });
  };

  window.addEventListener("message", ({ data, ports, source }) => {
    const message = data as Message | null;
    const [port] = ports;
    if (port) port.onmessage = (event) => read(event.data, (answer) => port.postMessage(answer));
    else if (message?.type === "read") {
      read(message, (answer) => (source as Window).postMessage(answer, "*"));
    } else if (message?.jsonrpc === "2.0") {
      const payload = message.params?._meta?.["connecta/ui"];
      if (payload) render(payload);
      else if (message.method === "ui/resource-teardown") ended = true;
      else if (message.method !== undefined) host.postMessage(message, "*");
      else replies.get(message.id)?.(message.result?.structuredContent?.data);
    }
  });
  post({ id: 0, method: "ui/initialize", params: {} });
  post({ method: "ui/notifications/initialized", params: {} });
  post({ method: "ui/notifications/size-changed", params: { height: 440 } });
}
