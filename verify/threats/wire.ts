/** Parameters of a command or an event. */
export type Params = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Params;
  readonly sessionId?: string;
  readonly result?: Params;
  /** An object in one protocol, a code in the other. */
  readonly error?: unknown;
  readonly message?: string;
}

/** Hears of an event, and of the session that it belongs to where the protocol has several. */
export type OnEvent = (method: string, params: Params, session: string | undefined) => void;

/** A line to a browser, for both protocols: WebDriver BiDi, and Chromium's own. */
export class Wire {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (message: Message) => void>();
  readonly #onEvent: OnEvent;
  #last = 0;

  private constructor(socket: WebSocket, onEvent: OnEvent) {
    this.#socket = socket;
    this.#onEvent = onEvent;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data))));
    socket.addEventListener("close", () => {
      for (const settle of this.#pending.values()) settle({ error: "the browser is gone" });
      this.#pending.clear();
    });
  }

  /** @throws when nothing speaks at the address */
  static async connect(url: string, onEvent: OnEvent): Promise<Wire> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", () => reject(new Error(`nothing speaks at ${url}`)));
    });
    return new Wire(socket, onEvent);
  }

  /** @throws when the browser refuses, in its words */
  async send(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    const id = ++this.#last;
    const answer = new Promise<Message>((resolve) => this.#pending.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error, message } = await answer;
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)} ${message ?? ""}`);
    return result;
  }

  close(): void {
    this.#socket.close();
  }

  #receive(message: Message): void {
    const { id, method = "", params = {}, sessionId } = message;
    if (id === undefined) return this.#onEvent(method, params, sessionId);
    this.#pending.get(id)?.(message);
    this.#pending.delete(id);
  }
}
