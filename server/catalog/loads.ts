import type { Connector, Tool } from "../shared/contracts.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { onAbort } from "../shared/aborts.ts";
import { Closing } from "../shared/closing.ts";
import { Notice } from "../shared/notice.ts";
import { observed } from "../shared/observation.ts";
import { Catalog, fingerprint } from "./catalog.ts";
import type { Kept } from "./kept.ts";
import { asideWarnings, govern } from "./policy.ts";

/** Ages and deadlines of catalogs, all in milliseconds. */
export interface CatalogTimes {
  /** Up to this age a catalog is served as it is. */
  readonly freshMs: number;
  /** Up to this age it is served while one refresh runs. */
  readonly staleMs: number;
  /** How long one connector may take to list its tools. */
  readonly timeoutMs: number;
  /** How long after a failed refresh or an unanswered load nobody asks the connector again. */
  readonly retryMs: number;
}

/** A load ends by its own deadline first. */
const GRACE_MS = 250;

interface Entry {
  readonly catalog: Catalog;
  readonly loadedAt: number;
  stale: boolean;
  /** Whether it was out of date before it was there. */
  readonly overtaken: boolean;
  /** Whether an earlier process loaded it: what changed since then, nobody here was told. */
  readonly inherited?: true;
}

interface Flight {
  readonly load: Promise<Outcome<Catalog>>;
  /** On the clock of timers, which decides when a load's deadline has passed. */
  readonly startedAt: number;
}

/** The last good catalog of each connector, and the one load that each may have under way. */
export class Loads {
  readonly #times: CatalogTimes;
  readonly #prepare: (catalog: Catalog) => Promise<void>;
  readonly #kept: Kept | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<string, Flight>();
  readonly #setbacks = new Map<string, { readonly failure: Failure; readonly at: number }>();
  readonly #told = new Map<string, ReadonlySet<string>>();
  /** How often each connector's tools were said to have changed. */
  readonly #changes = new Map<string, number>();
  readonly #closing = new Closing();

  /**
   * @param prepare makes a catalog searchable; readers of an older one do not wait for it
   * @param kept where lists are kept for the next process, when they are
   */
  constructor(times: CatalogTimes, prepare: (catalog: Catalog) => Promise<void>, kept?: Kept) {
    this.#times = times;
    this.#prepare = prepare;
    this.#kept = kept;
  }

  /** The last good catalog, whatever its age. */
  last(connectorId: string): Catalog | undefined {
    return this.#entries.get(connectorId)?.catalog;
  }

  /** Why the last refresh failed of a catalog that is served nevertheless. */
  setback(connectorId: string): Failure | undefined {
    return this.#setbacks.get(connectorId)?.failure;
  }

  /** The catalog while it is fresh, or stale with a refresh under way. */
  ready(connector: Connector, scope: Scope): Catalog | undefined {
    const entry = this.#entries.get(connector.id);
    if (entry === undefined) return undefined;
    const now = scope.now();
    if (this.#isFresh(connector, entry, now)) return entry.catalog;
    if (!isYounger(entry.loadedAt, this.#times.staleMs, now)) return undefined;
    if (this.#resting(connector.id, now) === undefined) void this.#flight(connector, scope);
    return entry.catalog;
  }

  /** The catalog as its age allows: at once when it is ready, else when the load has ended. */
  async load(connector: Connector, scope: Scope): Promise<Outcome<Catalog>> {
    // Without anything to read, the connector is asked at once.
    if (this.#kept?.mayHold(connector)) await this.#inherit(connector, this.#kept, scope);
    const announced = this.#entries.get(connector.id)?.stale === true;
    if (announced && this.#resting(connector.id, scope.now()) === undefined) {
      // What changed may be whether a tool only reads: nobody is admitted by the old word for it.
      const refreshed = await this.#join(connector, scope);
      if (refreshed.ok || refreshed.failure.code === "cancelled") return refreshed;
    }
    const ready = this.ready(connector, scope);
    if (ready !== undefined) return ok(ready);
    const failed = this.#resting(connector.id, scope.now());
    if (failed?.code === "unavailable") return { ok: false, failure: failed };
    return this.#join(connector, scope);
  }

  /** Makes the next reader refresh a catalog, whatever its age; earlier failures are forgotten. */
  markStale(connectorId: string): void {
    const entry = this.#entries.get(connectorId);
    if (entry !== undefined) entry.stale = true;
    this.#changes.set(connectorId, this.#changesOf(connectorId) + 1);
    this.#setbacks.delete(connectorId);
  }

  /** Stops every load that is under way; resolves when what was loaded is stored. */
  async close(): Promise<void> {
    this.#closing.close();
    await this.#kept?.settled();
  }

  /** Takes over what an earlier process loaded, at its age and under the policy of today. */
  async #inherit(connector: Connector, kept: Kept, scope: Scope): Promise<void> {
    const { id } = connector;
    const list = await kept.take(connector, scope);
    if (list === undefined || !isYounger(list.loadedAt, this.#times.staleMs, scope.now())) return;
    const { tools } = govern(connector, list.tools);
    const catalog = new Catalog(list.titled, tools, await fingerprint(tools));
    // Meanwhile the connector may have answered.
    if (this.#entries.has(id)) return;
    const { loadedAt } = list;
    const stale = this.#changesOf(id) > 0;
    this.#entries.set(id, { catalog, loadedAt, stale, overtaken: false, inherited: true });
  }

  /** The failure for whose sake the connector is left alone for now. */
  #resting(connectorId: string, now: number): Failure | undefined {
    const setback = this.#setbacks.get(connectorId);
    const recent = setback !== undefined && isYounger(setback.at, this.#times.retryMs, now);
    return recent ? setback.failure : undefined;
  }

  #isFresh(connector: Connector, entry: Entry, now: number): boolean {
    if (entry.stale || entry.inherited) return false;
    return connector.staticCatalog === true || isYounger(entry.loadedAt, this.#times.freshMs, now);
  }

  /** Waits for the shared load as long as the caller lives and the connector may take. */
  async #join(connector: Connector, scope: Scope): Promise<Outcome<Catalog>> {
    const { id } = connector;
    const gone = fail("cancelled", `${subject(id)} is no longer wanted.`, { connector: id });
    if (scope.signal.aborted) return gone;
    const { timeoutMs } = this.#times;
    const late = `${subject(id)} did not come within ${timeoutMs} ms.`;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let off: (() => void) | undefined;
    const ended = new Promise<Outcome<Catalog>>((resolve) => {
      off = onAbort(scope.signal, () => resolve(gone));
      // A load that another request began may die with that request without a word.
      const details = { connector: id, timeoutMs };
      timer = setTimeout(() => resolve(fail("unavailable", late, details)), timeoutMs + GRACE_MS);
    });
    const outcome = await Promise.race([this.#flight(connector, scope), ended]);
    clearTimeout(timer);
    off?.();
    return outcome;
  }

  /** The load under way, or a new one: one that outlived its deadline died with its request. */
  #flight(connector: Connector, scope: Scope): Promise<Outcome<Catalog>> {
    const { id } = connector;
    const current = this.#flights.get(id);
    if (current && performance.now() - current.startedAt <= this.#times.timeoutMs) {
      return current.load;
    }
    const fetched = observed(
      scope,
      { kind: "load", connector: id },
      (own) => this.#fetch(connector, own),
      (outcome) => (outcome.ok ? undefined : outcome.failure.code),
    );
    const load = fetched.then((outcome) => {
      if (this.#flights.get(id) === flight) this.#flights.delete(id);
      return outcome;
    });
    const flight: Flight = { load, startedAt: performance.now() };
    this.#flights.set(id, flight);
    scope.defer(load.then((outcome) => (outcome.ok ? this.#prepare(outcome.value) : undefined)));
    return load;
  }

  /** Lists the tools under a signal of its own, so that no caller's leaving fails the others. */
  async #fetch(connector: Connector, caller: Scope): Promise<Outcome<Catalog>> {
    const { id } = connector;
    const controller = new AbortController();
    const off = this.#closing.onClose(() => controller.abort());
    const own: Scope = {
      signal: controller.signal,
      now: () => caller.now(),
      defer: (task) => caller.defer(task),
      principal: caller.principal,
      requestId: caller.requestId,
      report: (error, what) => caller.report(error, what),
      ...(caller.trace && { trace: caller.trace }),
    };
    const changes = this.#changesOf(id);
    const listed = await withDeadline(own, this.#times.timeoutMs, subject(id), (limited) =>
      list(connector, limited),
    );
    off();
    const before = this.#entries.get(id);
    const known = before?.catalog;
    if (!listed.ok) {
      const failed = lookupFailure(id, listed.failure);
      // Only silence is remembered for callers that wait: an answer may change at any moment.
      if (known !== undefined || listed.failure.code === "timeout") {
        this.#setbacks.set(id, { failure: failed, at: caller.now() });
      }
      return { ok: false, failure: failed };
    }
    const { given, tools, mark, warnings } = listed.value;
    this.#tell(id, warnings, caller);
    const catalog = known?.fingerprint === mark ? known : new Catalog(connector, tools, mark);
    // Readers go on with the old catalog until the new one can be searched.
    if (known !== undefined) await this.#prepare(catalog);
    // A server may announce a change each time it is asked: every other time is often enough.
    const overtaken = this.#changesOf(id) !== changes && before?.overtaken !== true;
    this.#entries.set(id, { catalog, loadedAt: caller.now(), stale: overtaken, overtaken });
    this.#setbacks.delete(id);
    this.#kept?.put(connector, given, caller.now(), caller);
    return ok(catalog);
  }

  #changesOf(connectorId: string): number {
    return this.#changes.get(connectorId) ?? 0;
  }

  /** Tells the operator what the last list did not already call for. */
  #tell(connectorId: string, warnings: readonly string[], scope: Scope): void {
    const told = this.#told.get(connectorId);
    this.#told.set(connectorId, new Set(warnings));
    for (const warning of warnings) {
      if (told?.has(warning) !== true)
        scope.report(new Notice(warning), `catalog of ${connectorId}`);
    }
  }
}

interface Listed {
  /** As the connector listed them. */
  readonly given: readonly Tool[];
  readonly tools: readonly Tool[];
  readonly mark: string;
  readonly warnings: readonly string[];
}

async function list(connector: Connector, scope: Scope): Promise<Outcome<Listed>> {
  try {
    const listed = await connector.listTools(scope);
    if (!listed.ok) return listed;
    const { tools, setAside, warnings } = govern(connector, listed.value);
    const all = [...asideWarnings(connector.id, setAside), ...warnings];
    return ok({ given: listed.value, tools, warnings: all, mark: await fingerprint(tools) });
  } catch {
    // What was thrown may quote a request or a credential.
    return fail("catalog_lookup_failed", "the connector failed without saying why.");
  }
}

const PASSED_ON: ReadonlySet<Failure["code"]> = new Set([
  "unavailable",
  "auth_required",
  "rate_limited",
  "cancelled",
]);

/** A failure in the words of a lookup, naming the connector and the way on. */
function lookupFailure(connector: string, cause: Failure): Failure {
  const { code, message, timeoutMs } = cause;
  if (code === "timeout") {
    const details = timeoutMs === undefined ? {} : { timeoutMs };
    return failure("unavailable", message, { ...details, connector });
  }
  if (code === "auth_required" && cause.nextAction === undefined) {
    const nextAction = { tool: "authorize_connector", arguments: { connector } };
    return { ...cause, connector, nextAction };
  }
  if (PASSED_ON.has(code) || (code === "catalog_lookup_failed" && cause.connector !== undefined)) {
    return { ...cause, connector };
  }
  return failure("catalog_lookup_failed", `${subject(connector)} could not be read: ${message}`, {
    connector,
  });
}

function isYounger(since: number, limitMs: number, now: number): boolean {
  const age = now - since;
  // A clock that was set back must not keep something alive for as long as it was set back.
  return age >= 0 && age < limitMs;
}

function subject(connectorId: string): string {
  return `The tool list of ${connectorId}`;
}
