import type { PortOffer, Push, ReadFailure, ReadReply, ReadsConfig } from "./messages.ts";

/**
 * Second script of an inner document whose payload has reads: installs `connecta.read` and
 * `connecta.reads`, and hands the shell one port. It travels as text and closes over nothing.
 */
export default function readsPrelude({ names, render }: ReadsConfig): void {
  const shell = window.parent;
  document.currentScript?.remove();

  const root = document.documentElement;
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let closed: ReadFailure | undefined;
  let last = 0;
  const rejection = (failure: ReadFailure) =>
    Object.assign(new Error(failure.message), { code: failure.code, retryable: failure.retryable });

  const { port1: port, port2: offered } = new MessageChannel();
  port.onmessage = (event) => {
    const reply = event.data as ReadReply;
    const read = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.ok) read?.resolve(reply.value);
    else read?.reject(rejection(reply.error));
  };
  window.addEventListener("message", (event) => {
    const push = event.data as Push | null;
    if (event.source !== shell || push?.type !== "connecta/closed") return;
    event.stopImmediatePropagation();
    closed = push.error;
    for (const read of pending.values()) read.reject(rejection(push.error));
    pending.clear();
  });

  const read = (name: string, args?: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      // document.open() keeps this window but none of its listeners: nobody would hear of the end.
      if (document.documentElement !== root) {
        const message = "The view was replaced; its reads have ended.";
        closed ??= { code: "reads_unavailable", message, retryable: false };
      }
      if (closed) return reject(rejection(closed));
      const id = ++last;
      pending.set(id, { resolve, reject });
      try {
        port.postMessage({ id, name, args });
      } catch {
        pending.delete(id);
        const message = "The arguments of a read must be plain JSON.";
        reject(rejection({ code: "invalid_args", message, retryable: false }));
      }
    });
  const connecta = Object.freeze({ read, reads: Object.freeze([...names]) });
  Object.defineProperty(window, "connecta", { value: connecta, enumerable: true });
  const offer: PortOffer = { type: "connecta/port", render };
  shell.postMessage(offer, "*", [offered]);
}
