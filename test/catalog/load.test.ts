import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import type { Tool } from "../../server/shared/contracts.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import { deferred, failureOf, fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

const FRESH_MS = 300_000;
const STALE_MS = 3_600_000;

/** A clock that the test sets, and the work that was left to finish after an answer. */
function clock() {
  const state = { time: 1_000_000_000, deferred: [] as Promise<unknown>[] };
  const scope = (signal?: AbortSignal) =>
    testScope({
      now: () => state.time,
      defer: (task) => void state.deferred.push(task),
      ...(signal && { signal }),
    });
  return { state, scope, settle: () => Promise.all(state.deferred) };
}

describe("C2: a catalog", () => {
  test("younger than 300 seconds is served as it is", async () => {
    const { state, scope } = clock();
    const crm = fakeConnector("crm", [fakeTool("a")]);
    const catalogs = new Catalogs([crm]);
    const first = valueOf(await catalogs.load("crm", scope()));
    state.time += FRESH_MS - 1;
    expect(valueOf(await catalogs.load("crm", scope()))).toBe(first);
    expect(crm.listed()).toBe(1);
  });

  test("older than that is served stale while one refresh runs, then fresh", async () => {
    const { state, scope, settle } = clock();
    const crm = fakeConnector("crm", (listing) => Promise.resolve(ok([fakeTool(`v${listing}`)])));
    const catalogs = new Catalogs([crm]);
    await catalogs.load("crm", scope());
    state.time += FRESH_MS;
    for (let reader = 0; reader < 5; reader++) {
      const stale = valueOf(await catalogs.load("crm", scope()));
      expect([...stale.tools.keys()]).toEqual(["v1"]);
    }
    await settle();
    expect(crm.listed()).toBe(2);
    const fresh = valueOf(await catalogs.load("crm", scope()));
    expect([...fresh.tools.keys()]).toEqual(["v2"]);
  });

  test("older than 3600 seconds is loaded anew, and its failure is a failure", async () => {
    const { state, scope } = clock();
    const crm = fakeConnector("crm", (listing) =>
      Promise.resolve(listing === 1 ? ok([fakeTool("a")]) : fail("unavailable", "It is down.")),
    );
    const catalogs = new Catalogs([crm]);
    await catalogs.load("crm", scope());
    state.time += STALE_MS;
    expect(failureOf(await catalogs.load("crm", scope())).code).toBe("unavailable");
  });

  test("outlives a failed refresh, and the connector is then left alone for a while", async () => {
    const { state, scope, settle } = clock();
    const crm = fakeConnector("crm", (listing) =>
      Promise.resolve(listing === 1 ? ok([fakeTool("a")]) : fail("unavailable", "It is down.")),
    );
    const catalogs = new Catalogs([crm], { retryMs: 5_000 });
    await catalogs.load("crm", scope());
    state.time += FRESH_MS;
    for (let reader = 0; reader < 4; reader++) {
      expect((await catalogs.load("crm", scope())).ok).toBe(true);
      await settle();
    }
    expect(crm.listed()).toBe(2);
    state.time += 5_000;
    await catalogs.load("crm", scope());
    expect(crm.listed()).toBe(3);
  });

  test("is loaded once for readers that come together", async () => {
    const { scope } = clock();
    const answer = deferred<Outcome<readonly Tool[]>>();
    const crm = fakeConnector("crm", () => answer.promise);
    const catalogs = new Catalogs([crm]);
    const readers = Array.from({ length: 20 }, () => catalogs.load("crm", scope()));
    answer.resolve(ok([fakeTool("a")]));
    const loaded = (await Promise.all(readers)).map(valueOf);
    expect(new Set(loaded).size).toBe(1);
    expect(crm.listed()).toBe(1);
  });

  test("that never changes is loaded once and for all", async () => {
    const { state, scope } = clock();
    const api = fakeConnector("api", [fakeTool("a")], { staticCatalog: true });
    const catalogs = new Catalogs([api]);
    await catalogs.load("api", scope());
    state.time += 10 * STALE_MS;
    expect((await catalogs.load("api", scope())).ok).toBe(true);
    expect(api.listed()).toBe(1);
  });

  test("that was marked stale is refreshed by its next reader", async () => {
    const { scope, settle } = clock();
    const crm = fakeConnector("crm", (listing) => Promise.resolve(ok([fakeTool(`v${listing}`)])));
    const catalogs = new Catalogs([crm]);
    await catalogs.load("crm", scope());
    catalogs.markStale("crm");
    await catalogs.load("crm", scope());
    await settle();
    expect([...valueOf(await catalogs.load("crm", scope())).tools.keys()]).toEqual(["v2"]);
  });

  test("whose connector says that its tools changed is refreshed by its next reader", async () => {
    const { scope, settle } = clock();
    let change = () => {};
    const crm = fakeConnector("crm", (listing) => Promise.resolve(ok([fakeTool(`v${listing}`)])), {
      onToolsChanged: (listener) => void (change = listener),
    });
    const catalogs = new Catalogs([crm]);
    await catalogs.load("crm", scope());
    change();
    await catalogs.load("crm", scope());
    await settle();
    expect([...valueOf(await catalogs.load("crm", scope())).tools.keys()]).toEqual(["v2"]);
  });

  test("that changed while it was listed is listed again, and not for ever", async () => {
    const { scope, settle } = clock();
    let change = () => {};
    const crm = fakeConnector(
      "crm",
      (listing) => {
        change();
        return Promise.resolve(ok([fakeTool(`v${listing}`)]));
      },
      { onToolsChanged: (listener) => void (change = listener) },
    );
    const catalogs = new Catalogs([crm]);
    for (let reader = 0; reader < 5; reader++) {
      await catalogs.load("crm", scope());
      await settle();
    }
    expect(crm.listed()).toBe(2);
  });

  test("is not kept alive by a clock that was set back", async () => {
    const { state, scope } = clock();
    const crm = fakeConnector("crm", [fakeTool("a")]);
    const catalogs = new Catalogs([crm]);
    await catalogs.load("crm", scope());
    state.time -= 50_000;
    await catalogs.load("crm", scope());
    expect(crm.listed()).toBe(2);
  });
});

describe("C2: the fingerprint", () => {
  async function fingerprintOf(tools: readonly Tool[]): Promise<string> {
    const catalogs = new Catalogs([fakeConnector("crm", tools)]);
    return valueOf(await catalogs.load("crm", testScope())).fingerprint;
  }

  test("stays the same while the tools do", async () => {
    expect(await fingerprintOf([fakeTool("a")])).toBe(await fingerprintOf([fakeTool("a")]));
  });

  test.each([
    ["description", { description: "Does something else." }],
    ["input schema", { inputSchema: { type: "object", required: ["id"] } }],
    ["output schema", { outputSchema: { type: "object" } }],
    ["annotations", { annotations: { readOnlyHint: false } }],
    ["title", { title: "A" }],
  ])("changes with a tool's %s", async (_, parts) => {
    expect(await fingerprintOf([fakeTool("a", parts)])).not.toBe(
      await fingerprintOf([fakeTool("a")]),
    );
  });
});

describe("C1: a load that fails", () => {
  test.each([
    ["unavailable", "unavailable"],
    ["rate_limited", "rate_limited"],
    ["auth_required", "auth_required"],
    ["connector_call_failed", "catalog_lookup_failed"],
    ["catalog_lookup_failed", "catalog_lookup_failed"],
    ["internal", "catalog_lookup_failed"],
  ] as const)("with %s is %s and names the connector", async (code, expected) => {
    const crm = fakeConnector("crm", () => Promise.resolve(fail(code, "It said no.")));
    const failure = failureOf(await new Catalogs([crm]).load("crm", testScope()));
    expect(failure.code).toBe(expected);
    expect(failure.connector).toBe("crm");
    expect(failure.message).toContain("It said no.");
  });

  test("for want of authorisation says how to get it (E3)", async () => {
    const crm = fakeConnector("crm", () => Promise.resolve(fail("auth_required", "Log in.")));
    const failure = failureOf(await new Catalogs([crm]).load("crm", testScope()));
    expect(failure.nextAction).toEqual({
      tool: "authorize_connector",
      arguments: { connector: "crm" },
    });
  });

  test("by throwing is told without what was thrown (E4)", async () => {
    const crm = fakeConnector("crm", () => Promise.reject(new Error("Bearer s3cret")));
    const failure = failureOf(await new Catalogs([crm]).load("crm", testScope()));
    expect(failure.code).toBe("catalog_lookup_failed");
    expect(JSON.stringify(failure)).not.toContain("s3cret");
  });

  test("is not remembered: the next reader asks again", async () => {
    const crm = fakeConnector("crm", (listing) =>
      Promise.resolve(listing === 1 ? fail("unavailable", "Not yet.") : ok([fakeTool("a")])),
    );
    const catalogs = new Catalogs([crm]);
    expect((await catalogs.load("crm", testScope())).ok).toBe(false);
    expect((await catalogs.load("crm", testScope())).ok).toBe(true);
  });

  test("with a list that cannot be hashed is a failure, not a throw", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const crm = fakeConnector("crm", [fakeTool("a", { inputSchema: cyclic })]);
    const failure = failureOf(await new Catalogs([crm]).load("crm", testScope()));
    expect(failure.code).toBe("catalog_lookup_failed");
  });
});

describe("C2: one caller's leaving", () => {
  test("fails that caller alone, not those who share its load", async () => {
    const { scope } = clock();
    const answer = deferred<Outcome<readonly Tool[]>>();
    const crm = fakeConnector("crm", () => answer.promise);
    const catalogs = new Catalogs([crm]);
    const leaving = new AbortController();
    const gone = catalogs.load("crm", scope(leaving.signal));
    const patient = catalogs.load("crm", scope());
    leaving.abort();
    expect(failureOf(await gone).code).toBe("cancelled");
    answer.resolve(ok([fakeTool("a")]));
    expect((await patient).ok).toBe(true);
    expect(crm.listed()).toBe(1);
  });

  test("does not abort the listing itself", async () => {
    const { scope } = clock();
    const answer = deferred<Outcome<readonly Tool[]>>();
    const seen: AbortSignal[] = [];
    const crm = fakeConnector("crm", [], {
      listTools: ({ signal }) => {
        seen.push(signal);
        return answer.promise;
      },
    });
    const leaving = new AbortController();
    const gone = new Catalogs([crm]).load("crm", scope(leaving.signal));
    leaving.abort();
    await gone;
    expect(seen.map(({ aborted }) => aborted)).toEqual([false]);
  });

  test("before it came asks nobody", async () => {
    const crm = fakeConnector("crm", [fakeTool("a")]);
    const signal = AbortSignal.abort();
    expect(failureOf(await new Catalogs([crm]).load("crm", testScope({ signal }))).code).toBe(
      "cancelled",
    );
    expect(crm.listed()).toBe(0);
  });
});

describe("C2: a connector that never answers", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is unavailable after its own deadline, and not asked again at once", async () => {
    const { state, scope } = clock();
    const crm = fakeConnector("crm", () => new Promise(() => undefined));
    const catalogs = new Catalogs([crm], { timeoutMs: 10_000, retryMs: 5_000 });
    const first = catalogs.load("crm", scope());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(failureOf(await first).code).toBe("unavailable");
    expect(failureOf(await catalogs.load("crm", scope())).code).toBe("unavailable");
    expect(crm.listed()).toBe(1);
    state.time += 5_000;
    const second = catalogs.load("crm", scope());
    await vi.advanceTimersByTimeAsync(10_000);
    await second;
    expect(crm.listed()).toBe(2);
  });

  test("is told to stop listing when the deadline has passed", async () => {
    const { scope } = clock();
    const seen: AbortSignal[] = [];
    const crm = fakeConnector("crm", [], {
      listTools: ({ signal }) => {
        seen.push(signal);
        return new Promise(() => undefined);
      },
    });
    const load = new Catalogs([crm], { timeoutMs: 10_000 }).load("crm", scope());
    await vi.advanceTimersByTimeAsync(10_000);
    await load;
    expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test("is told to stop listing when the catalogs close", async () => {
    const { scope } = clock();
    const seen: AbortSignal[] = [];
    const crm = fakeConnector("crm", [], {
      listTools: ({ signal }) => {
        seen.push(signal);
        return new Promise(() => undefined);
      },
    });
    const catalogs = new Catalogs([crm]);
    const load = catalogs.load("crm", scope());
    catalogs.close();
    expect((await load).ok).toBe(false);
    expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
