import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { closedStore, endOf, refusal, type KeepOptions, type Storage } from "../shared/storage.ts";
import { kindOf } from "../shared/text.ts";
import type { StorageObject } from "./storage-object.ts";

/** The methods of the object, as they are called from elsewhere. */
type StorageStub = {
  [Name in Operation]: (
    ...given: Parameters<StorageObject[Name]>
  ) => Promise<ReturnType<StorageObject[Name]>>;
};

type Operation = "read" | "write" | "remove" | "names" | "swap";

/** A binding to the class `StorageObject`: structurally a `DurableObjectNamespace`. */
export interface StorageNamespace<Id> {
  idFromName(name: string): Id;
  get(id: Id): StorageStub;
}

/** Where a store lies. */
export interface DurableStorageOptions<Id> {
  readonly namespace: StorageNamespace<Id>;
  /** Another object of the class for each name; `connecta` when omitted. */
  readonly name?: string;
  /** Milliseconds since the epoch; the system's clock when omitted. */
  readonly now?: () => number;
}

/**
 * A store in one Durable Object of the class `StorageObject`: what was written is there for whoever
 * reads next, wherever, and of many who compare and set one wins.
 * @throws TypeError without a namespace
 */
export function durableStorage<Id>(options: DurableStorageOptions<Id>): Storage {
  const { namespace, name = "connecta", now = Date.now } = options ?? {};
  if (typeof namespace?.idFromName !== "function") {
    throw new TypeError(
      "durableStorage() needs a binding to StorageObject: durableStorage({ namespace: env.STORE }).",
    );
  }
  let isClosed = false;
  const use = async <T>(
    asked: Parameters<typeof refusal>[0],
    work: (stub: StorageStub) => Promise<T>,
  ): Promise<Outcome<T>> => {
    const refused = isClosed ? closedStore() : refusal(asked);
    if (refused !== undefined) return refused;
    try {
      // A stub belongs to the request that got it.
      return ok(await work(namespace.get(namespace.idFromName(name))));
    } catch (error) {
      return fail("unavailable", `The Durable Object failed (${kindOf(error)}).`);
    }
  };
  const times = (options: KeepOptions) => {
    const time = now();
    return { expiresAt: endOf(options, time) ?? null, now: time };
  };
  return {
    isShared: true,
    get: (key) => use({ key }, (stub) => stub.read(key, now())),
    set: (key, value, keep = {}) =>
      use({ ...keep, key, values: [value] }, (stub) => stub.write(key, value, times(keep))),
    delete: (key) => use({ key }, (stub) => stub.remove(key)),
    list(prefix, page = {}) {
      const { after = "", limit = LIMITS.storageListKeys.value } = page;
      return use({ ...page, prefix }, (stub) => stub.names(prefix, { after, limit, now: now() }));
    },
    compareAndSet: (key, expected, value, keep = {}) =>
      use({ ...keep, key, values: [expected, value] }, (stub) =>
        stub.swap(key, expected, value, times(keep)),
      ),
    async close() {
      isClosed = true;
    },
  };
}
