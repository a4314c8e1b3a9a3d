import { ok, type Outcome } from "../../shared/failure.ts";
import type { Storage } from "../../shared/storage.ts";

/** Lets one instance of a deployment at a time do something that must not happen twice. */
export class Lease {
  readonly #storage: Storage;
  readonly #key: string;
  readonly #ttlMs: number;

  /** @param ttlMs milliseconds after which it is over, should its holder have died */
  constructor(storage: Storage, key: string, ttlMs: number) {
    this.#storage = storage;
    this.#key = key;
    this.#ttlMs = ttlMs;
  }

  /** Tries to take it; what is given back ends it. */
  async take(): Promise<Outcome<(() => Promise<unknown>) | undefined>> {
    const mine = crypto.randomUUID();
    const ttlMs = this.#ttlMs;
    const taken = await this.#storage.compareAndSet(this.#key, undefined, mine, { ttlMs });
    if (!taken.ok) return taken;
    if (!taken.value) return ok(undefined);
    // Where it is over already, somebody else may hold it.
    return ok(() => this.#storage.compareAndSet(this.#key, mine, "ended", { ttlMs: 1 }));
  }
}
