import { describe, expect, test } from "vitest";
import type { ActivityEvent, Connecta, Connector } from "../../server/index.ts";
import { fail, ok, type FailureCode, type Outcome } from "../../server/shared/failure.ts";
import type { ToolResult } from "../../server/shared/contracts.ts";
import { unwrapCall } from "../../shell/src/unwrap.ts";
import { fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { call, deploy } from "./ticket-desk.ts";

const TIMEOUT_MS = 30;
const PATIENCE_MS = 15_000;
const INPUT = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

/** What the tools of the desk do when they are called. */
const ANSWERS: Record<string, (signal: AbortSignal) => Promise<Outcome<ToolResult>>> = {
  works: async () => ok({ kind: "value", value: 1 }),
  writes: async () => ok({ kind: "value", value: 1 }),
  fails: async () => fail("connector_call_failed", "The printer is on fire."),
  tells: async () => {
    const text = "The printer is on fire.";
    return ok({ kind: "mcp", content: [{ type: "text", text }], isError: true });
  },
  throws: () => Promise.reject(new RangeError("sk-live-1")),
  hangs: (signal) => new Promise((_, reject) => (signal.onabort = () => reject(signal.reason))),
  busy: async () => fail("rate_limited", "Too many calls.", { retryAfterMs: 1 }),
  locked: async () => fail("auth_required", "Sign in first.", { connector: "desk" }),
};

/** A desk that notes what reaches it, and one whose tools nobody can list. */
function desks(timeoutMs = TIMEOUT_MS) {
  const traffic: unknown[] = [];
  const tools = Object.keys(ANSWERS).map((name) =>
    fakeTool(name, { inputSchema: INPUT, annotations: { readOnlyHint: name !== "writes" } }),
  );
  const desk = fakeConnector("desk", tools, {
    kind: "api",
    callTool: (name, args, { signal }) => {
      traffic.push([name, args]);
      const answer = ANSWERS[name];
      if (!answer) throw new Error(`no tool ${name}`);
      return answer(signal);
    },
  });
  const down = fakeConnector("down", async () => fail("unavailable", "Nobody answers."));
  const connectors: Connector[] = [desk, down];
  const options = {
    execute: { hostCallTimeoutMs: timeoutMs },
    calls: { timeoutMs },
    log: () => {},
  };
  return { traffic, connecta: deploy(connectors, options) };
}

type Failing = { readonly code?: string; readonly nextAction?: unknown };
type Way = (connecta: Connecta, address: string, args: unknown) => Promise<Failing | undefined>;

const tool =
  (name: string, more: object = {}): Way =>
  async (connecta, address, args) => {
    const { structuredContent } = await call(connecta, name, { address, args, ...more });
    return structuredContent?.error as Failing | undefined;
  };

/** Runs an expression of a program; answers the error that it meets or returns. */
async function run(connecta: Connecta, expression: string): Promise<Failing | undefined> {
  const code = `async () => {
    try { const [one] = await ${expression}; return one?.error ?? null; }
    catch (error) { return { ...error, message: error.message }; }
  }`;
  const { structuredContent } = await call(connecta, "execute_code", { code });
  const { result } = structuredContent as { result: Failing | null };
  return result ?? undefined;
}

const json = JSON.stringify;

const WAYS: Record<string, Way> = {
  call_tool: tool("call_tool"),
  call_destructive_tool: tool("call_destructive_tool"),
  "connecta.call": (connecta, address, args) =>
    run(connecta, `[await connecta.call(${json(address)}, ${json(args)})]`),
  "connecta.batch": (connecta, address, args) =>
    run(connecta, `connecta.batch([{ address: ${json(address)}, args: ${json(args)} }])`),
  "a shortcut": (connecta, address, args) => run(connecta, `[await ${address}(${json(args)})]`),
  "a view's read": async (connecta, address, args) => {
    const read = unwrapCall(
      await call(connecta, "call_tool", { address, args, resultMode: "value" }),
    );
    return read.ok ? undefined : read.error;
  },
};

/** What was recorded, the newest first. */
async function eventsOf({ activity }: Connecta): Promise<readonly ActivityEvent[]> {
  return activity ? valueOf(await activity.read()).events : [];
}

interface Observed {
  readonly error: Failing | undefined;
  readonly traffic: readonly unknown[];
  readonly event: ActivityEvent | undefined;
}

async function observe(way: Way, address: string, args: unknown): Promise<Observed> {
  const { connecta, traffic } = desks(address === "desk.hangs" ? TIMEOUT_MS : PATIENCE_MS);
  const error = await way(connecta, address, args);
  const events = await eventsOf(connecta);
  expect(events).toHaveLength(1);
  return { error, traffic, event: events[0] };
}

/** What must be the same whichever way a call came. */
function common(event: ActivityEvent | undefined) {
  if (!event) throw new Error("nothing was recorded");
  const { time, durationMs, source, requestId, runId, ...same } = event;
  expect(time).toBeGreaterThan(1_700_000_000_000);
  expect(durationMs).toBeGreaterThanOrEqual(0);
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(runId !== undefined).toBe(source === "execute_code");
  return same;
}

const SOURCES: Record<string, ActivityEvent["source"]> = {
  call_tool: "call_tool",
  call_destructive_tool: "call_destructive_tool",
  "connecta.call": "execute_code",
  "connecta.batch": "execute_code",
  "a shortcut": "execute_code",
  "a view's read": "call_tool",
};

const ID = { id: "r7" };
const reached = (name: string) => [[name, ID]];

interface Case {
  readonly address: string;
  readonly args: unknown;
  readonly code: FailureCode;
  readonly traffic: readonly unknown[];
  /** Ways for which the call is no failure, or that cannot make it. */
  readonly except?: readonly string[];
}

const CASES: Record<string, Case> = {
  "an unknown tool": { address: "desk.prints", args: ID, code: "unknown_tool", traffic: [] },
  "an unknown connector": {
    address: "desc.works",
    args: ID,
    code: "unknown_address",
    traffic: [],
    except: ["a shortcut"],
  },
  "wrong arguments": { address: "desk.works", args: { id: 7 }, code: "invalid_args", traffic: [] },
  "a write where only reads are": {
    address: "desk.writes",
    args: ID,
    code: "destructive_tool_requires_approval",
    traffic: [],
    except: ["call_destructive_tool"],
  },
  "a tool list that cannot be read": {
    address: "down.works",
    args: ID,
    code: "unavailable",
    traffic: [],
  },
  "a failure of the connector": {
    address: "desk.fails",
    args: ID,
    code: "connector_call_failed",
    traffic: reached("fails"),
  },
  "a result that tells of a failure": {
    address: "desk.tells",
    args: ID,
    code: "connector_call_failed",
    traffic: reached("tells"),
  },
  "an exception of the connector": {
    address: "desk.throws",
    args: ID,
    code: "connector_call_failed",
    traffic: reached("throws"),
  },
  "no answer in time": {
    address: "desk.hangs",
    args: ID,
    code: "timeout",
    traffic: reached("hangs"),
  },
  "a failure that a retry may mend, where none was asked for": {
    address: "desk.busy",
    args: ID,
    code: "rate_limited",
    traffic: reached("busy"),
  },
  "a missing credential": {
    address: "desk.locked",
    args: ID,
    code: "auth_required",
    traffic: reached("locked"),
  },
};

describe("I1, T1: the same failing call by every way: one code, one event, one traffic", () => {
  test.each(Object.entries(CASES))(
    "%s",
    async (_, { address, args, code, traffic, except = [] }) => {
      const ways = Object.entries(WAYS).filter(([name]) => !except.includes(name));
      const [connector] = code === "unknown_address" ? [undefined] : address.split(".");
      const isResolved = address.startsWith("desk.") && code !== "unknown_tool";
      const event = {
        connector,
        tool: isResolved ? address.split(".")[1] : undefined,
        address,
        outcome: "failed",
        code,
        attempts: traffic.length,
        principal: "anonymous",
      };
      const messages = new Set<unknown>();
      for (const [name, way] of ways) {
        const observed = await observe(way, address, args);
        expect({ [name]: observed.error?.code }).toEqual({ [name]: code });
        expect({ [name]: common(observed.event) }).toEqual({ [name]: event });
        expect({ [name]: observed.traffic }).toEqual({ [name]: traffic });
        expect(observed.event?.source).toBe(SOURCES[name]);
        messages.add((observed.error as { message?: unknown } | undefined)?.message);
      }
      expect(messages.size).toBe(1);
    },
  );

  test("control: a call that works is one event that says so, by every way", async () => {
    for (const [name, way] of Object.entries(WAYS)) {
      const { error, traffic, event } = await observe(way, "desk.works", ID);
      expect({ [name]: [error, traffic] }).toEqual({ [name]: [undefined, reached("works")] });
      expect(common(event)).toMatchObject({ outcome: "ok", code: undefined, attempts: 1 });
    }
  });

  test("control: the one way to a write makes it", async () => {
    const write = WAYS.call_destructive_tool ?? tool("call_destructive_tool");
    const { error, traffic, event } = await observe(write, "desk.writes", ID);
    expect([error, traffic]).toEqual([undefined, reached("writes")]);
    expect(event).toMatchObject({ source: "call_destructive_tool", outcome: "ok" });
  });

  test("I3: retries are the caller's to ask for: another traffic, the same code and one event", async () => {
    const asking = tool("call_tool", { maxRetries: 2 });
    const { error, traffic, event } = await observe(asking, "desk.busy", ID);
    expect(error).toMatchObject({ code: "rate_limited" });
    expect(traffic).toEqual([
      ["busy", ID],
      ["busy", ID],
      ["busy", ID],
    ]);
    expect(event).toMatchObject({ code: "rate_limited", attempts: 3 });
  });
});

describe("T1: what is recorded of a program", () => {
  async function recorded(code: string) {
    const { connecta } = desks(PATIENCE_MS);
    await call(connecta, "execute_code", { code });
    return (await eventsOf(connecta)).toReversed();
  }

  test("each of its calls, under one run and one request; other runs have others", async () => {
    const code = `await desk.works({ id: "a" }).catch(() => 0);
      await connecta.batch([{ address: "desk.works", args: {} }, { address: "desk.fails", args: { id: "b" } }]);
      return 1`;
    const [one, other] = [await recorded(code), await recorded(code)];
    const codes = one.map((event) => event.code ?? "ok");
    expect(codes.toSorted()).toEqual(["connector_call_failed", "invalid_args", "ok"]);
    expect(new Set(one.map(({ runId, requestId }) => `${runId} ${requestId}`)).size).toBe(1);
    expect(one[0]?.runId).not.toBe(other[0]?.runId);
  });

  test("a shortcut stands under the canonical address, one that is ambiguous under its own", async () => {
    const tools = [fakeTool("list-open"), fakeTool("a-b"), fakeTool("a_b")];
    const connecta = deploy([fakeConnector("tickets-eu", tools)]);
    const code = "await tickets_eu.list_open(); await tickets_eu.a_b(); return 1";
    await call(connecta, "execute_code", { code });
    expect(await eventsOf(connecta)).toMatchObject([
      { address: "tickets-eu.a_b", connector: "tickets-eu", code: "ambiguous_tool_alias" },
      { address: "tickets-eu.list-open", tool: "list-open", outcome: "ok" },
    ]);
  });

  test("a call that the program left behind is one that was cancelled", async () => {
    const { connecta } = desks(PATIENCE_MS);
    await call(connecta, "execute_code", { code: 'desk.hangs({ id: "a" }); return 1' });
    await expect.poll(() => eventsOf(connecta)).toHaveLength(1);
    expect(await eventsOf(connecta)).toMatchObject([{ outcome: "failed", code: "cancelled" }]);
  });

  test("what its budget refuses never left it, and is no call", async () => {
    const code = `for (let at = 0; at < 25; at++) await desk.works({ id: "a" }).catch(() => 0); return 1`;
    expect(await recorded(code)).toHaveLength(20);
  });

  test("what asks for no call is recorded nowhere: discovery, a view, a request of no form", async () => {
    const view = `await connecta.search({ query: "x" }); await connecta.describe({ address: "desk.works" });
      await connecta.ui("<p>", { reads: { a: { address: "desk.works" } } });
      await connecta.call(5).catch(() => 0); return 1`;
    expect(await recorded(view)).toEqual([]);
    const { connecta } = desks();
    await call(connecta, "call_tool", { adress: "desk.works" });
    await call(connecta, "search_tools", { query: "works" });
    expect(valueOf((await connecta.activity?.read()) ?? fail("internal", "none")).events).toEqual(
      [],
    );
  });
});

test("T1: activity: false records nothing, and calls go on", async () => {
  const connecta = deploy([fakeConnector("desk", [fakeTool("works")])], { activity: false });
  expect((await call(connecta, "call_tool", { address: "desk.works" })).isError).toBeUndefined();
  expect(connecta.activity).toBeUndefined();
});
