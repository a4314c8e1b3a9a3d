import { isExplicitlyReadOnly } from "../catalog/classify.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import { pause } from "../catalog/pause.ts";
import { describe } from "../catalog/describe.ts";
import { search } from "../catalog/search.ts";
import type { Invocation, Invoker } from "../invoke/invoke.ts";
import { withRecovery } from "../invoke/recovery.ts";
import { clocked } from "../invoke/times.ts";
import type { Provider } from "../shared/contracts.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { toJson } from "../shared/json.ts";
import { shapeProblem } from "../shared/json-shape.ts";
import { LIMITS, type ExecuteLimits } from "../shared/limits.ts";
import { isRecord } from "../shared/record.ts";
import type { Scope } from "../shared/scope.ts";
import { clampUtf8, utf8Length } from "../shared/text.ts";
import type { Manifest } from "../view/protocol.ts";
import { gather } from "./batch.ts";
import { carry } from "./carry.ts";
import { Emitted } from "./emitted.ts";
import { floodIn, underWay } from "./flood.ts";
import type { Room, Share } from "./in-flight.ts";
import type { Meter, Operation } from "./meter.ts";
import { batchReply, OVER, refusal, reply, type Answer } from "./reply.ts";
import type { Rests } from "./rests.ts";
import { Transit, type TransitHost } from "./transit.ts";

/** What a deployment lends to every run. */
export interface BridgeHost extends TransitHost {
  readonly catalogs: Catalogs;
  readonly invoker: Invoker;
  readonly rests: Rests;
}

const MAX_SEARCH_PAGE = 100;
const ECHO_BYTES = LIMITS.echoBytes.value;

/** What a view's or block's own form adds to its content. */
const ENVELOPE_BYTES = 1_024;

type Args = readonly unknown[];

/** What goes back into the guest, and how much of it is the answer itself. */
interface Reply {
  readonly text: string;
  readonly bytes: number;
  /** What it takes of the memory of all, until it has left. */
  readonly room?: Room;
}

const DONE: Reply = { text: reply({ kind: "json", text: "null", bytes: 0 }), bytes: 0 };

/** The host's side of one run's bridge: budgets, dispatch, and a record of failures it issued. */
export class Bridge {
  readonly emitted: Emitted;
  readonly transit: Transit;
  /** Failures handed into the run, by the id that its typed errors carry. */
  readonly issued = new Map<number, Failure>();
  /** Why the run ends that had too much under way at once. */
  flood: Failure | undefined;
  readonly #host: BridgeHost;
  readonly #limits: ExecuteLimits;
  readonly #scope: Scope;
  readonly #meter: Meter | undefined;
  readonly #runId = crypto.randomUUID();
  readonly #underWay = new Map<Promise<Outcome<Reply>>, Operation>();
  #spent = 0;
  #rich = 0;
  #lastUi: Promise<unknown> = Promise.resolve();

  /** @param meter counts and times what happens, for a run that is asked to tell */
  constructor(host: BridgeHost, limits: ExecuteLimits, scope: Scope, meter?: Meter) {
    this.#host = host;
    this.#limits = limits;
    this.#scope = scope;
    this.#meter = meter;
    this.transit = new Transit(host, limits.hostCallTimeoutMs, scope.signal);
    this.emitted = new Emitted(limits.maxEmittedBytes, limits.maxEmittedBlocks);
  }

  /**
   * What the sandbox is lent: functions from JSON text of a list to the text of a reply.
   * Values stay text on the way, so that a large result is written once.
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
      // Calls arrive in order: once this one is answered, every earlier one is under way.
      arrive: async (notice?: unknown) => {
        this.transit.leave(undefined);
        this.flood ??= floodIn(notice, underWay(this.#limits));
        return this.flood ? OVER : DONE.text;
      },
    };
    return { name: "connecta", fns, prelude };
  }

  #serve(
    name: Operation,
    work: (args: Args) => Promise<Outcome<Reply>>,
  ): (...args: unknown[]) => Promise<string> {
    return async (json) => {
      const bytes = typeof json === "string" ? utf8Length(json) : 0;
      const end = this.#meter?.begin(name, bytes);
      const doing = this.#guarded(name, () =>
        this.transit.holding(isRich(name) ? 0 : bytes, async () => {
          const args = this.#readArgs(name, json, bytes);
          return args.ok ? work(args.value) : args;
        }),
      );
      this.#underWay.set(doing, name);
      const done = await doing;
      // A program that has returned meanwhile does not hear of its refused block: finish() tells.
      if (!done.ok && isRich(name)) await pause();
      this.#underWay.delete(doing);
      end?.(done.ok ? done.value.bytes : 0);
      this.transit.leave(done.ok ? done.value.room : undefined);
      if (this.#scope.signal.aborted) return OVER;
      return done.ok ? done.value.text : this.#issue(done.failure);
    };
  }

  /**
   * What a program that has returned did not wait for. Blocks and views are its output and still
   * count; calls are dropped. Answers what there is to say about them, one line each.
   */
  async finish(): Promise<string[]> {
    const lines: string[] = [];
    let calls = 0;
    for (const [work, name] of this.#underWay) {
      if (!isRich(name)) calls++;
      else {
        const done = await work;
        if (!done.ok) lines.push(`[unhandled] Error: ${done.failure.message}`);
      }
    }
    const dropped = calls === 1 ? "a host call" : `${calls} host calls`;
    if (calls > 0) lines.push(`[unhandled] not awaited, and dropped: ${dropped}`);
    return lines;
  }

  /** Resolves once nothing is under way: what has ended gives back what it held. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.keys());
  }

  async #guarded(name: Operation, work: () => Promise<Outcome<Reply>>): Promise<Outcome<Reply>> {
    try {
      return await work();
    } catch (error) {
      this.#scope.report(error, `connecta.${name}`);
      const message = `The gateway failed; its log names request ${this.#scope.requestId}.`;
      return fail("internal", message);
    }
  }

  #issue(issued: Failure): string {
    const id = this.issued.size + 1;
    this.issued.set(id, issued);
    return refusal(id, issued);
  }

  /** Guest text is not trusted to be what the prelude would send. */
  #readArgs(name: Operation, json: unknown, bytes: number): Outcome<Args> {
    const rich = isRich(name);
    const { maxArgumentBytes, maxEmittedBytes } = this.#limits;
    // What is emitted is measured against its own budget, once it is read.
    const max = rich ? maxEmittedBytes + ENVELOPE_BYTES : maxArgumentBytes;
    const text = typeof json === "string" && bytes <= max ? json : undefined;
    const problem = rich || text === undefined ? undefined : shapeProblem(text);
    if (problem !== undefined) {
      return fail("invalid_args", `What is given to connecta.${name} ${problem}.`);
    }
    let parsed: unknown;
    try {
      parsed = text === undefined ? undefined : JSON.parse(text);
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
  #spendCalls(count: number): Outcome<never> | undefined {
    const { maxHostCalls } = this.#limits;
    const remaining = maxHostCalls - this.#spent;
    if (count <= remaining) {
      this.#spent += count;
      return undefined;
    }
    return fail(
      "budget_exceeded",
      `maxHostCalls: ${count} asked for, ${remaining} of ${maxHostCalls} are left.`,
      { budget: "maxHostCalls", remaining },
    );
  }

  /** Refused blocks and views cost the host as much as accepted ones. */
  #spendRich(): Outcome<never> | undefined {
    const most = 2 * this.#limits.maxEmittedBlocks;
    if (this.#rich++ < most) return undefined;
    return fail("budget_exceeded", `maxEmittedBlocks: over ${most} calls of emit and ui.`, {
      budget: "maxEmittedBlocks",
      remaining: 0,
    });
  }

  async #search(args: Args): Promise<Outcome<Reply>> {
    const spent = this.#spendCalls(1);
    if (spent) return spent;
    return this.#discovery(() =>
      search(this.#host.catalogs, args[0] ?? {}, MAX_SEARCH_PAGE, this.#scope),
    );
  }

  async #describe(args: Args): Promise<Outcome<Reply>> {
    const spent = this.#spendCalls(1);
    if (spent) return spent;
    return this.#discovery(() => describe(this.#host.catalogs, args[0] ?? {}, this.#scope));
  }

  async #discovery(work: () => Promise<Outcome<object>>): Promise<Outcome<Reply>> {
    return this.transit.within(1, async (room) => {
      const done = await clocked(this.#meter, "catalogMs", work);
      if (done.ok) {
        const json = toJson(done.value, "The answer of discovery");
        if (!json.ok) return json;
        const text = json.value;
        const bytes = utf8Length(text);
        const refused = room.hold(bytes);
        return refused ? { ok: false, failure: refused } : replied({ kind: "json", text, bytes });
      }
      const attempt = { address: done.failure.connector ?? "" };
      return { ok: false, failure: withRecovery(done.failure, "inside", attempt) };
    });
  }

  async #callArgs(args: Args): Promise<Outcome<Reply>> {
    const [address, values] = args;
    if (typeof address !== "string" || args.length > 2) {
      return fail("invalid_args", "connecta.call takes an address and an arguments object.");
    }
    const spent = this.#spendCalls(1);
    if (spent) return spent;
    return this.#one(address, values);
  }

  #one(
    address: string,
    values: unknown,
    shortcut?: Invocation["shortcut"],
  ): Promise<Outcome<Reply>> {
    return this.transit.within(1, async (room) => {
      const answer = await this.#call(address, values, room.waitedMs, room, shortcut);
      return answer.ok ? replied(answer.value) : answer;
    });
  }

  async #shortcut(args: Args): Promise<Outcome<Reply>> {
    const [connector, property, values] = args;
    if (typeof connector !== "string" || typeof property !== "string" || args.length > 3) {
      return fail("invalid_args", "A tool takes one arguments object.");
    }
    const spent = this.#spendCalls(1);
    if (spent) return spent;
    return this.#one(`${connector}.${property}`, values, { connector, property });
  }

  async #batch(args: Args): Promise<Outcome<Reply>> {
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
    if (spent) return spent;
    const { maxResultBytes } = this.#limits;
    return this.transit.within(calls.length, async (room) => {
      const { entries, bytes } = await gather(calls, maxResultBytes, room, (call, share) =>
        this.#call(call.address, call.args, room.waitedMs, share),
      );
      const named = entries.map(({ address, answer }) => ({
        address: clampUtf8(address, ECHO_BYTES),
        answer,
      }));
      return ok({ text: batchReply(named), bytes });
    });
  }

  #call(
    address: string,
    args: unknown,
    waitedMs: number,
    share: Share,
    shortcut?: Invocation["shortcut"],
  ): Promise<Outcome<Answer>> {
    const { invoker, rests } = this.#host;
    const { hostCallTimeoutMs, maxResultBytes } = this.#limits;
    return invoker.invoke(
      {
        address,
        shortcut,
        args: args ?? undefined,
        access: "read",
        surface: "inside",
        source: "execute_code",
        runId: this.#runId,
        timeoutMs: Math.max(1, Math.round(hostCallTimeoutMs - waitedMs)),
        maxRetries: 0,
        times: this.#meter,
      },
      this.#scope,
      ({ connector, tool, result }) =>
        carry(`${connector.id}.${tool.name}`, result, maxResultBytes, rests, share),
    );
  }

  async #emit(args: Args): Promise<Outcome<Reply>> {
    const spent = this.#spendRich();
    if (spent) return spent;
    const accepted = this.emitted.emit(args);
    return accepted.ok ? ok(DONE) : accepted;
  }

  /** One after the other, so that of two views the one that was called first stands. */
  #ui(args: Args): Promise<Outcome<Reply>> {
    const spent = this.#spendRich();
    if (spent) return Promise.resolve(spent);
    const done = this.#lastUi.then(() => this.#uiInTurn(args));
    this.#lastUi = done.catch(() => undefined);
    return done;
  }

  async #uiInTurn(args: Args): Promise<Outcome<Reply>> {
    const accepted = this.emitted.checkUi(args);
    if (!accepted.ok) return accepted;
    const reads = accepted.value.reads ?? {};
    const refused = await clocked(this.#meter, "catalogMs", () => this.#admitReads(reads));
    if (refused) return { ok: false, failure: refused };
    const taken = this.emitted.acceptUi(accepted.value);
    return taken.ok ? ok(DONE) : taken;
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

function isRich(name: Operation): boolean {
  return name === "emit" || name === "ui";
}

function replied(answer: Answer): Outcome<Reply> {
  return ok({ text: reply(answer), bytes: answer.bytes });
}

function isBatchCall(call: unknown): call is { address: string; args?: unknown } {
  if (!isRecord(call)) return false;
  const { address, ...rest } = call;
  return typeof address === "string" && Object.keys(rest).every((key) => key === "args");
}
