import type { Connector, Tool } from "../shared/contracts.ts";
import { hashOf } from "../shared/digest.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { endedWithin } from "../shared/joining.ts";
import { LIMITS } from "../shared/limits.ts";
import { Notice } from "../shared/notice.ts";
import { isRecord } from "../shared/record.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import type { Storage } from "../shared/storage.ts";
import type { Titled } from "./catalog.ts";

/** A tool list as its connector gave it, before any policy. */
export interface KeptList {
  readonly tools: readonly Tool[];
  /** When the connector gave it, in milliseconds since the epoch. */
  readonly loadedAt: number;
  /** Stands in for the connector until its server was reached. */
  readonly titled: Titled;
}

interface Content {
  readonly loadedAt: number;
  readonly ownTitle?: string;
  readonly tools: readonly Tool[];
}

/** Tool lists in a store, for the next process. A store that fails is reported, and fails nobody. */
export class Kept {
  readonly #storage: Storage;
  readonly #ttlMs: number;
  readonly #reads = new Map<string, Promise<Outcome<KeptList | undefined>>>();
  /** Connectors that nothing is read for any more. */
  readonly #done = new Set<string>();
  readonly #writes = new Map<string, Promise<void>>();
  readonly #reported = new Set<string>();

  /** @param ttlMs milliseconds after which a list is of no use */
  constructor(storage: Storage, ttlMs: number) {
    this.#storage = storage;
    this.#ttlMs = ttlMs;
  }

  /** Whether what an earlier process left was not asked for yet. */
  mayHold(connector: Connector): boolean {
    return !this.#done.has(connector.id) && isKept(connector);
  }

  /** What an earlier process left; nothing when it was asked for before. */
  async take(connector: Connector, scope: Scope): Promise<KeptList | undefined> {
    const { id } = connector;
    if (!this.mayHold(connector)) return undefined;
    const reading = this.#reads.get(id) ?? this.#read(connector);
    this.#reads.set(id, reading);
    const timeoutMs = LIMITS.storageTimeoutMs.value;
    // Every reader has a deadline of its own: a reading may die with the request that began it.
    const read = await withDeadline(scope, timeoutMs, "The store", () => reading);
    if (!read.ok && read.failure.code === "cancelled") return undefined;
    const isFirst = !this.#done.has(id);
    this.#done.add(id);
    this.#reads.delete(id);
    if (read.ok) return read.value;
    if (isFirst) this.#report(id, `is not used: ${read.failure.message}`, scope);
    return undefined;
  }

  /** Keeps what a connector just listed, in the order of the calls and off the caller's path. */
  put(connector: Connector, tools: readonly Tool[], loadedAt: number, scope: Scope): void {
    const { id } = connector;
    this.#done.add(id);
    if (!isKept(connector)) return;
    const before = this.#writes.get(id) ?? Promise.resolve();
    const write = endedWithin(before, LIMITS.storageTimeoutMs.value)
      .then(() => this.#write(connector, tools, loadedAt))
      .then((written) => {
        if (written.ok) this.#reported.delete(id);
        else this.#report(id, `could not be stored: ${written.failure.message}`, scope);
        if (this.#writes.get(id) === write) this.#writes.delete(id);
      });
    this.#writes.set(id, write);
    scope.defer(write);
  }

  /** Resolves when everything that was put is stored, could not be, or takes too long. */
  async settled(): Promise<void> {
    await endedWithin(Promise.all(this.#writes.values()), LIMITS.storageTimeoutMs.value);
  }

  async #read(connector: Connector): Promise<Outcome<KeptList | undefined>> {
    try {
      const stored = await this.#storage.get(await keyOf(connector));
      if (!stored.ok || stored.value === undefined) return stored.ok ? ok(undefined) : stored;
      const content = await contentOf(stored.value);
      if (content === undefined) {
        return fail("invalid_args", "what the store holds is not what was stored.");
      }
      const { tools, loadedAt, ownTitle } = content;
      const { id, title } = connector;
      const titled: Titled = {
        id,
        ...(title !== undefined && { title }),
        ...(ownTitle !== undefined && { ownTitle: () => ownTitle }),
      };
      return ok({ tools, loadedAt, titled });
    } catch {
      return fail("unavailable", "the store failed without saying why.");
    }
  }

  async #write(
    connector: Connector,
    tools: readonly Tool[],
    loadedAt: number,
  ): Promise<Outcome<void>> {
    try {
      const ownTitle = connector.ownTitle?.();
      const content: Content = { loadedAt, ...(ownTitle !== undefined && { ownTitle }), tools };
      const text = JSON.stringify(content);
      const value = `${await hashOf(text)}\n${text}`;
      return await this.#storage.set(await keyOf(connector), value, { ttlMs: this.#ttlMs });
    } catch {
      return fail("unavailable", "the store failed without saying why.");
    }
  }

  /** Once, until a write has worked again. */
  #report(id: string, what: string, scope: Scope): void {
    if (this.#reported.has(id)) return;
    this.#reported.add(id);
    scope.report(new Notice(`The stored catalog of ${id} ${what}`), `catalog of ${id}`);
  }
}

function isKept(connector: Connector): boolean {
  return connector.staticCatalog !== true && connector.identity !== undefined;
}

/** A URL or a command may hold a secret: the key tells only whether it is the same one. */
async function keyOf(connector: Connector): Promise<string> {
  return `catalog/1/${connector.id}/${await hashOf(connector.identity?.() ?? "")}`;
}

/** What was stored, when it is whole and of the form that is stored. */
async function contentOf(value: string): Promise<Content | undefined> {
  const end = value.indexOf("\n");
  const text = value.slice(end + 1);
  if (end < 0 || value.slice(0, end) !== (await hashOf(text))) return undefined;
  const content: unknown = JSON.parse(text);
  return isContent(content) ? content : undefined;
}

function isContent(value: unknown): value is Content {
  if (!isRecord(value) || !Number.isFinite(value.loadedAt)) return false;
  const { ownTitle, tools } = value;
  if (ownTitle !== undefined && typeof ownTitle !== "string") return false;
  return Array.isArray(tools) && tools.every(isTool);
}

function isTool(value: unknown): value is Tool {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    isRecord(value.inputSchema) &&
    isRecord(value.annotations)
  );
}
