import { LIMITS } from "../shared/limits.ts";
import type { Script } from "./redis-scripts.ts";

/** What a store needs of a connection to Redis: a connected client of `@redis/client` or `redis`. */
export interface RedisClient {
  /** Sends one command and resolves to its answer. */
  sendCommand(args: string[], options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

/** A connection that scripts are run over. */
export interface RedisLink {
  /** Runs a script; rejects with the client's error, or `LinkError`, within the store's time. */
  run(script: Script, args: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A failure whose message may be shown. */
export class LinkError extends Error {}

/** What is opened here, and so closed here. */
interface Opened extends RedisClient {
  destroy(): void;
}

/** Commands that were sent over a connection and not answered. */
interface Connection {
  readonly opening: Promise<Opened>;
  pending: number;
  isRetired: boolean;
}

/** Runs scripts over a client whose connection is somebody else's matter. */
export function linkTo(client: RedisClient): RedisLink {
  return {
    run: (script, args) =>
      withinTime((abortSignal) => evaluate(client, { script, args, abortSignal })),
    close: async () => {},
  };
}

/** Connects at the first use, and anew at the next one after a connection failed or fell silent. */
export class OwnLink implements RedisLink {
  readonly #url: string;
  #connection: Connection | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async run(script: Script, args: readonly string[]): Promise<unknown> {
    const connection = this.#connect();
    connection.pending++;
    try {
      return await withinTime(
        async (abortSignal) => evaluate(await connection.opening, { script, args, abortSignal }),
        () => this.#retire(connection),
      );
    } finally {
      connection.pending--;
      if (connection.isRetired) this.#retire(connection);
    }
  }

  async close(): Promise<void> {
    if (this.#connection) this.#retire(this.#connection);
  }

  #connect(): Connection {
    if (this.#connection) return this.#connection;
    const opening = open(this.#url, () => this.#retire(connection));
    const connection: Connection = { opening, pending: 0, isRetired: false };
    this.#connection = connection;
    opening.catch(() => this.#retire(connection));
    return connection;
  }

  /** The next who asks connects anew; what others wait for here still has its time. */
  #retire(connection: Connection): void {
    connection.isRetired = true;
    if (this.#connection === connection) this.#connection = undefined;
    if (connection.pending > 0) return;
    connection.opening.then(
      (client) => client.destroy(),
      () => {},
    );
  }
}

/** @param onEnd called when the connection is over, whoever ended it */
async function open(url: string, onEnd: () => void): Promise<Opened> {
  const { createClient } = await import("@redis/client").catch(() => {
    throw new LinkError("it needs a package that is not there: npm install @redis/client");
  });
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    maintNotifications: "disabled",
    socket: { connectTimeout: LIMITS.storageTimeoutMs.value, reconnectStrategy: false },
  });
  // What fails is told to who waits for it; an error that nobody listens to ends the process.
  client.on("error", () => {});
  client.on("terminated", onEnd);
  const destroy = () => {
    if (client.isOpen) client.destroy();
  };
  // A server that accepts connections and says nothing is waited for no longer than others.
  await withinTime(() => client.connect(), destroy);
  return { sendCommand: (args, options) => client.sendCommand(args, options), destroy };
}

interface Evaluation {
  readonly script: Script;
  readonly args: readonly string[];
  readonly abortSignal: AbortSignal;
}

/** A server that was started anew has forgotten its scripts. */
async function evaluate(client: RedisClient, evaluation: Evaluation): Promise<unknown> {
  const { script, args, abortSignal } = evaluation;
  try {
    return await client.sendCommand(["EVALSHA", script.sha, ...args], { abortSignal });
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
    return client.sendCommand(["EVAL", script.lua, ...args], { abortSignal });
  }
}

/** @param onTimeout called when the work took longer; what was not sent by then never is */
async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout = () => {},
): Promise<T> {
  const abort = new AbortController();
  const timeoutMs = LIMITS.storageTimeoutMs.value;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onTimeout();
      abort.abort();
      reject(new LinkError(`it did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(abort.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
