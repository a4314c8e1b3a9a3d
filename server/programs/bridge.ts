import { isExplicitlyReadOnly } from "../catalog/classify.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import { describe } from "../catalog/describe.ts";
import { search } from "../catalog/search.ts";
import type { Invoker } from "../invoke/invoke.ts";
import { withRecovery } from "../invoke/recovery.ts";
import { unwrap } from "../invoke/unwrap.ts";
import type { Provider } from "../shared/contracts.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { toJson } from "../shared/json.ts";
import { LIMITS, type ExecuteLimits } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { clampUtf8, utf8Length } from "../shared/text.ts";
import type { Manifest } from "../view/protocol.ts";
import { Emitted } from "./emitted.ts";

/** What the bridge did for one run, in numbers. */
export interface BridgeCounts {
  calls: number;
  callMs: number;
  resultBytes: number;
  searches: number;
  searchMs: number;
}

/** What a deployment lends to every run. */
export interface BridgeHost {
  readonly catalogs: Catalogs;
  readonly invoker: Invoker;
}

const MAX_SEARCH_PAGE = 100;
const ECHO_BYTES = LIMITS.echoBytes.value;

/** What a view's or block's own form adds to its content. */
const ENVELOPE_BYTES = 1_024;

type Args = readonly unknown[];

/** The host's side of one run's bridge: budgets, dispatch, and a record of failures it issued. */
export class Bridge {
  readonly emitted: Emitted;
  /** Failures handed into the run, by the id that its typed errors carry. */
  readonly issued = new Map<number, Failure>();
  readonly counts: BridgeCounts = {
    calls: 0,
    callMs: 0,
    resultBytes: 0,
    searches: 0,
    searchMs: 0,
  };
  readonly #host: BridgeHost;
  readonly #limits: ExecuteLimits;
  readonly #scope: Scope;
  #spent = 0;
  #rich = 0;
  #lastUi: Promise<unknown> = Promise.resolve();

  constructor(host: BridgeHost, limits: ExecuteLimits, scope: Scope) {
    this.#host = host;
    this.#limits = limits;
    this.#scope = scope;
    this.emitted = new Emitted(limits.maxEmittedBytes, limits.maxEmittedBlocks);
  }

  /**
   * What the sandbox is lent: functions from JSON text of a list to JSON text of an outcome.
   * Values stay text on the way, so that a large result is serialised once.
   */
  provider(prelude: string): Provider {
    const fns = {
      search: this.#serve("search", (args) => this.#search(args)),
      describe: this.#serve("describe", (args) => this.#describe(args)),
      call: this.#serve("call", (args) => this.#callArgs(args)),
      batch: this.#serve("batch", (args) => this.#batch(args)),
      shortcut: this.#serve("shortcut", (args) => this.#shortcut(args)),
      emit: this.#serve("emit", (args) => this.#emit(args)),
      ui: this.#serve("ui", (args) => this.#ui(args)),
    };
    return { name: "connecta", fns, prelude };
  }

  #serve(
    name: string,
    work: (args: Args) => Promise<Outcome<string>>,
  ): (...args: unknown[]) => Promise<string> {
    return async (json) => {
      try {
        const args = this.#readArgs(name, json);
        const done = args.ok ? await work(args.value) : args;
        return done.ok ? `{"ok":true,"value":${done.value}}` : this.#issue(done.failure);
      } catch (error) {
        this.#scope.report(error, `connecta.${name}`);
        const message = `The gateway failed; its log names request ${this.#scope.requestId}.`;
        return this.#issue(failure("internal", message));
      }
    };
  }

  #issue(issued: Failure): string {
    const id = this.issued.size + 1;
    this.issued.set(id, issued);
    return JSON.stringify({ ok: false, id, failure: issued });
  }

  /** Guest text is not trusted to be what the prelude would send. */
  #readArgs(name: string, json: unknown): Outcome<Args> {
    const rich = name === "emit" || name === "ui";
    const { maxArgumentBytes, maxEmittedBytes } = this.#limits;
    // What is emitted is measured against its own budget, once it is read.
    const max = rich ? maxEmittedBytes + ENVELOPE_BYTES : maxArgumentBytes;
    const bytes = typeof json === "string" ? utf8Length(json) : 0;
    let parsed: unknown;
    try {
      parsed = typeof json === "string" && bytes <= max ? JSON.parse(json) : undefined;
    } catch {
      parsed = undefined;
    }
    if (Array.isArray(parsed)) return ok(parsed);
    const notice = (parsed ?? {}) as { chars?: unknown; subject?: unknown };
    const size = typeof notice.chars === "number" ? notice.chars : bytes;
    if (size === 0) return fail("invalid_args", `connecta.${name} takes JSON arguments.`);
    if (rich) return this.emitted.overBudget(size);
    const named = typeof notice.subject === "string" ? notice.subject : `connecta.${name}`;
    const subject = clampUtf8(named, LIMITS.nameBytes.value);
    return fail(
      "budget_exceeded",
      `maxArgumentBytes: the arguments of ${subject} take ${size} bytes, at most ${max} may.`,
      { budget: "maxArgumentBytes", bytes: size, maxBytes: max, address: subject },
    );
  }

  /** Reserves host calls before anything is awaited, so that none slips in between. */
  #spendCalls(count: number): Failure | undefined {
    const { maxHostCalls } = this.#limits;
    const remaining = maxHostCalls - this.#spent;
    if (count <= remaining) {
      this.#spent += count;
      return undefined;
    }
    return failure(
      "budget_exceeded",
      `maxHostCalls: ${count} asked for, ${remaining} of ${maxHostCalls} are left.`,
      { budget: "maxHostCalls", remaining },
    );
  }

  /** Refused blocks and views cost the host as much as accepted ones. */
  #spendRich(): Failure | undefined {
    const most = 2 * this.#limits.maxEmittedBlocks;
    if (this.#rich++ < most) return undefined;
    return failure("budget_exceeded", `maxEmittedBlocks: over ${most} calls of emit and ui.`, {
      budget: "maxEmittedBlocks",
      remaining: 0,
    });
  }

  async #search(args: Args): Promise<Outcome<string>> {
    const spent = this.#spendCalls(1);
    if (spent) return { ok: false, failure: spent };
    return this.#discovery(() =>
      search(this.#host.catalogs, args[0] ?? {}, { maxLimit: MAX_SEARCH_PAGE }, this.#scope),
    );
  }

  async #describe(args: Args): Promise<Outcome<string>> {
    const spent = this.#spendCalls(1);
    if (spent) return { ok: false, failure: spent };
    return this.#discovery(() => describe(this.#host.catalogs, args[0] ?? {}, this.#scope));
  }

  async #discovery(work: () => Promise<Outcome<object>>): Promise<Outcome<string>> {
    this.counts.searches++;
    const start = performance.now();
    const done = await work();
    this.counts.searchMs += performance.now() - start;
    if (done.ok) return toJson(done.value, "The answer of discovery");
    const attempt = { address: done.failure.connector ?? "" };
    return { ok: false, failure: withRecovery(done.failure, "inside", attempt) };
  }

  async #callArgs(args: Args): Promise<Outcome<string>> {
    const [address, values] = args;
    if (typeof address !== "string" || args.length > 2) {
      return fail("invalid_args", "connecta.call takes an address and an arguments object.");
    }
    const spent = this.#spendCalls(1);
    if (spent) return { ok: false, failure: spent };
    return this.#call(address, values);
  }

  async #shortcut(args: Args): Promise<Outcome<string>> {
    const [connector, property, values] = args;
    if (typeof connector !== "string" || typeof property !== "string" || args.length > 3) {
      return fail("invalid_args", "A tool takes one arguments object.");
    }
    const spent = this.#spendCalls(1);
    if (spent) return { ok: false, failure: spent };
    const address = await this.#host.catalogs.shortcut(connector, property, this.#scope);
    if (address.ok) return this.#call(address.value, values);
    const attempt = { address: clampUtf8(`${connector}.${property}`, ECHO_BYTES) };
    return { ok: false, failure: withRecovery(address.failure, "inside", attempt) };
  }

  async #batch(args: Args): Promise<Outcome<string>> {
    const [calls] = args;
    const { maxBatchCalls } = this.#limits;
    if (!Array.isArray(calls) || args.length !== 1 || !calls.every(isBatchCall)) {
      return fail("invalid_args", "connecta.batch takes a list of { address, args? }.");
    }
    if (calls.length > maxBatchCalls) {
      return fail(
        "budget_exceeded",
        `maxBatchCalls: ${calls.length} calls in one batch, at most ${maxBatchCalls} may be.`,
        { budget: "maxBatchCalls", remaining: maxBatchCalls },
      );
    }
    const spent = this.#spendCalls(calls.length);
    if (spent) return { ok: false, failure: spent };
    const done = await Promise.all(
      calls.map(async ({ address, args: values }) => ({
        address,
        answer: await this.#call(address, values),
      })),
    );
    let room = this.#limits.maxResultBytes;
    const entries = done.map(({ address, answer }) => {
      const bytes = answer.ok ? utf8Length(answer.value) : 0;
      room -= bytes;
      const name = JSON.stringify(clampUtf8(address, ECHO_BYTES));
      // All answers of a batch cross the bridge together, under the bound of one.
      const fits = room >= 0 ? answer : this.#tooLarge(address, bytes);
      return fits.ok
        ? `{"address":${name},"ok":true,"data":${fits.value}}`
        : `{"address":${name},"ok":false,"error":${JSON.stringify(fits.failure)}}`;
    });
    return ok(`[${entries.join()}]`);
  }

  async #call(address: string, args: unknown): Promise<Outcome<string>> {
    this.counts.calls++;
    const start = performance.now();
    const done = await this.#host.invoker.invoke(
      {
        address,
        args: args ?? undefined,
        access: "read",
        surface: "inside",
        timeoutMs: this.#limits.hostCallTimeoutMs,
        maxRetries: 0,
      },
      this.#scope,
    );
    this.counts.callMs += performance.now() - start;
    if (!done.ok) return done;
    const value = unwrap(address, done.value.result);
    return value.ok ? this.#measured(address, value.value) : value;
  }

  #measured(address: string, value: unknown): Outcome<string> {
    const json = toJson(value, `The answer of ${address}`);
    if (!json.ok) return json;
    const bytes = utf8Length(json.value);
    this.counts.resultBytes += bytes;
    return bytes <= this.#limits.maxResultBytes ? json : this.#tooLarge(address, bytes);
  }

  #tooLarge(address: string, bytes: number): Outcome<never> {
    const max = this.#limits.maxResultBytes;
    return fail(
      "result_too_large",
      `${address} answered ${bytes} bytes; a program can take ${max} (maxResultBytes).`,
      { address, bytes, maxBytes: max },
    );
  }

  #emit(args: Args): Promise<Outcome<string>> {
    const spent = this.#spendRich();
    return Promise.resolve(spent ? { ok: false, failure: spent } : this.emitted.emit(args));
  }

  /** One after the other, so that of two views the one that was called first stands. */
  #ui(args: Args): Promise<Outcome<string>> {
    const spent = this.#spendRich();
    if (spent) return Promise.resolve({ ok: false, failure: spent });
    const done = this.#lastUi.then(() => this.#uiInTurn(args));
    this.#lastUi = done.catch(() => undefined);
    return done;
  }

  async #uiInTurn(args: Args): Promise<Outcome<string>> {
    const accepted = this.emitted.checkUi(args);
    if (!accepted.ok) return accepted;
    const refused = await this.#admitReads(accepted.value.reads ?? {});
    return refused ? { ok: false, failure: refused } : this.emitted.acceptUi(accepted.value);
  }

  /** Every read must resolve to an explicitly read-only tool now; nothing is dispatched. */
  async #admitReads(reads: Manifest): Promise<Failure | undefined> {
    for (const [name, { address }] of Object.entries(reads)) {
      const resolved = await this.#host.catalogs.resolve(address, this.#scope);
      if (!resolved.ok) return withRecovery(resolved.failure, "inside", { address });
      if (isExplicitlyReadOnly(resolved.value.tool)) continue;
      return failure(
        "destructive_tool_requires_approval",
        `reads.${name} names a tool that is not marked read-only: a view only reads.`,
        { address: clampUtf8(address, ECHO_BYTES) },
      );
    }
    return undefined;
  }
}

function isBatchCall(call: unknown): call is { address: string; args?: unknown } {
  if (typeof call !== "object" || call === null || Array.isArray(call)) return false;
  const { address, ...rest } = call as Record<string, unknown>;
  return typeof address === "string" && Object.keys(rest).every((key) => key === "args");
}
