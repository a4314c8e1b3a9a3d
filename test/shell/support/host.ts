type Message = Record<string, unknown>;

/** A host window that keeps what it is sent and speaks by hand. */
export interface FakeHost {
  readonly window: Window;
  /** Messages of the view, oldest first. */
  readonly received: Message[];
  /** Sends any message, from this window. */
  send(message: unknown): void;
  /** Sends a notification. */
  notify(method: string, params?: unknown): void;
  /** Answers the latest request of a method; fails when there is none. */
  answer(method: string, body: { result: unknown } | { error: unknown }): void;
  /** The messages of a method. */
  of(method: string): Message[];
  /** Removes this host's listeners from the window under test. */
  readonly close: () => void;
}

/** Makes a host and keeps track of what listens on the window under test, so that tests do not meet. */
export function fakeHost(): FakeHost {
  const received: Message[] = [];
  const host = { postMessage: (message: Message) => void received.push(structuredClone(message)) };
  const source = host as unknown as Window;
  const listeners: [string, EventListenerOrEventListenerObject][] = [];
  const add = window.addEventListener.bind(window);
  window.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listeners.push([type, listener]);
    add(type, listener);
  };
  const send = (message: unknown) => sendFrom(source, message);
  const of = (method: string) => received.filter((message) => message.method === method);
  return {
    window: source,
    received,
    send,
    notify: (method, params) =>
      send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) }),
    answer(method, body) {
      const request = of(method).at(-1);
      if (!request) throw new Error(`nobody asked for ${method}`);
      send({ jsonrpc: "2.0", id: request.id, ...body });
    },
    of,
    close() {
      window.addEventListener = add;
      for (const [type, listener] of listeners) window.removeEventListener(type, listener);
    },
  };
}

/** Delivers a message to the window under test as if another window had sent it. */
export function sendFrom(source: unknown, data: unknown, ports: MessagePort[] = []): void {
  const event = new MessageEvent("message", { data });
  Object.defineProperty(event, "source", { value: source });
  Object.defineProperty(event, "ports", { value: ports });
  window.dispatchEvent(event);
}
