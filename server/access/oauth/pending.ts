import { digestOf } from "../../shared/digest.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Storage } from "../../shared/storage.ts";
import { toBase64Url } from "../keys.ts";
import { keyOf, type Place, type Vault } from "../vault.ts";
import { PENDING, readRecord, type Pending } from "./records.ts";

const STATE_BYTES = 32;
/** What is no seal: somebody came back with this state before. */
const USED = "used";

/** A new state, which nobody can guess. */
export function newState(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(STATE_BYTES)));
}

/**
 * People who were sent to an authorization server. Each comes back once, for the connector that
 * sent them, to whichever instance of the deployment; the store knows only a hash of the state.
 */
export class PendingAuthorizations {
  readonly #connector: string;
  readonly #vault: Vault;
  readonly #storage: Storage;

  constructor(connector: string, vault: Vault, storage: Storage) {
    this.#connector = connector;
    this.#vault = vault;
    this.#storage = storage;
  }

  /** Remembers what is needed when the person comes back. */
  async begin(state: string, pending: Pending): Promise<Outcome<void>> {
    const place = await this.#place(state);
    const ttlMs = LIMITS.authorizationMs.value;
    return this.#vault.write(place, JSON.stringify(pending), { ttlMs });
  }

  /**
   * Takes what was remembered; nobody takes it again.
   * Failure: `not_found` for a state that is unknown here, used or over.
   */
  async take(state: string): Promise<Outcome<Pending>> {
    const place = await this.#place(state);
    const key = keyOf(place);
    const stored = await this.#storage.get(key);
    if (!stored.ok) return stored;
    if (stored.value === undefined) {
      return fail("not_found", "This link is not known here, or its time has passed.");
    }
    const ttlMs = LIMITS.authorizationMs.value;
    const taken =
      stored.value === USED
        ? ok(false)
        : await this.#storage.compareAndSet(key, stored.value, USED, { ttlMs });
    if (!taken.ok) return taken;
    if (!taken.value) return fail("not_found", "This link was used before.");
    const opened = await this.#vault.open(place, stored.value);
    if (!opened.ok) return opened;
    const pending = readRecord(PENDING, opened.value);
    return pending === undefined
      ? fail("not_found", "This link is of another version of the gateway.")
      : ok(pending);
  }

  async #place(state: string): Promise<Place> {
    const field = toBase64Url(await digestOf(state));
    return { purpose: "state", connector: this.#connector, field };
  }
}
