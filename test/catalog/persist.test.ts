import { describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { search } from "../../server/catalog/search.ts";
import type { Connector, Tool } from "../../server/shared/contracts.ts";
import { memoryStorage } from "../../server/shared/drivers/memory.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import { Notice } from "../../server/shared/notice.ts";
import type { Storage } from "../../server/shared/storage.ts";
import { deferred, failureOf, fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { MAX_PAGE } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

const STALE_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A store that outlives processes, a clock, and what the operator was told. */
function world() {
  const state = { time: 1_800_000_000_000, told: [] as string[], tasks: [] as Promise<unknown>[] };
  const storage = memoryStorage({ now: () => state.time });
  const scope = (signal?: AbortSignal) =>
    testScope({
      now: () => state.time,
      defer: (task) => void state.tasks.push(task),
      report: (error) => {
        state.told.push(error instanceof Notice ? error.message : `no notice: ${String(error)}`);
      },
      ...(signal && { signal }),
    });
  return { state, storage, scope, settle: () => Promise.all(state.tasks) };
}

type World = ReturnType<typeof world>;

const at = (url: string): Partial<Connector> => ({ identity: () => url });
const CRM = at("https://crm.example/mcp");
const dead = (parts: Partial<Connector> = CRM) =>
  fakeConnector("crm", () => Promise.resolve(fail("unavailable", "crm is down.")), parts);

/** A process that lists these tools once and ends. */
async function earlier(
  { storage, scope }: Pick<World, "storage" | "scope">,
  tools: readonly Tool[] = [fakeTool("get_record")],
  parts: Partial<Connector> = CRM,
) {
  const catalogs = new Catalogs([fakeConnector("crm", tools, parts)], {}, storage);
  const catalog = valueOf(await catalogs.load("crm", scope()));
  await catalogs.close();
  return catalog;
}

const names = (outcome: Awaited<ReturnType<Catalogs["load"]>>) => [
  ...valueOf(outcome).tools.keys(),
];

describe("C2: a stored catalog", () => {
  test("survives a restart with the same fingerprint, before its connector was asked", async () => {
    const { storage, scope } = world();
    const before = await earlier({ storage, scope });
    const silent = fakeConnector("crm", () => new Promise(() => undefined), CRM);
    const after = valueOf(await new Catalogs([silent], {}, storage).load("crm", scope()));
    expect(after.fingerprint).toBe(before.fingerprint);
    expect([...after.tools.values()]).toEqual([...before.tools.values()]);
  });

  test("control: without a store nothing survives", async () => {
    const { storage, scope } = world();
    await earlier({ storage, scope });
    expect(failureOf(await new Catalogs([dead()]).load("crm", scope())).code).toBe("unavailable");
  });

  test("is stale, however young: one refresh runs while readers are served", async () => {
    const { storage, scope, settle } = world();
    await earlier({ storage, scope }, [fakeTool("old")]);
    const crm = fakeConnector("crm", [fakeTool("new")], CRM);
    const catalogs = new Catalogs([crm], {}, storage);
    const readers = Array.from({ length: 10 }, () => catalogs.load("crm", scope()));
    for (const outcome of await Promise.all(readers)) expect(names(outcome)).toEqual(["old"]);
    await settle();
    expect(names(await catalogs.load("crm", scope()))).toEqual(["new"]);
    expect(crm.listed()).toBe(1);
  });

  test("is as old as its listing, whenever it is read", async () => {
    const { state, storage, scope } = world();
    await earlier({ storage, scope });
    state.time += STALE_MS - MINUTE_MS;
    const catalogs = new Catalogs([dead()], {}, storage);
    expect((await catalogs.load("crm", scope())).ok).toBe(true);
    state.time += MINUTE_MS;
    expect(failureOf(await catalogs.load("crm", scope())).code).toBe("unavailable");
  });

  test("of more than 3600 seconds is not served, even when the store still has it", async () => {
    const { state, storage, scope } = world();
    const eternal: Storage = { ...storage, set: (key, value) => storage.set(key, value) };
    await earlier({ storage: eternal, scope });
    state.time += STALE_MS;
    const later = new Catalogs([dead()], {}, storage);
    expect(failureOf(await later.load("crm", scope())).code).toBe("unavailable");
    expect(later.loaded("crm")).toBeUndefined();
    expect(valueOf(await storage.list("catalog/"))).toHaveLength(1);
  });

  test("leaves the store by itself when it is of no use any more", async () => {
    const { state, storage, scope } = world();
    await earlier({ storage, scope });
    expect(valueOf(await storage.list("catalog/"))).toHaveLength(1);
    state.time += STALE_MS;
    expect(valueOf(await storage.list("catalog/"))).toEqual([]);
  });

  test("is replaced by each later listing", async () => {
    const { state, storage, scope } = world();
    await earlier({ storage, scope }, [fakeTool("old")]);
    state.time += STALE_MS;
    await earlier({ storage, scope }, [fakeTool("new")]);
    const catalogs = new Catalogs([dead()], {}, storage);
    expect(names(await catalogs.load("crm", scope()))).toEqual(["new"]);
  });

  test("keeps the name that its server gave itself", async () => {
    const { storage, scope } = world();
    await earlier({ storage, scope }, [fakeTool("a")], { ...CRM, ownTitle: () => "Sales desk" });
    const catalogs = new Catalogs([dead()], {}, storage);
    expect(valueOf(await catalogs.load("crm", scope())).title).toBe("Sales desk");
  });

  test("is read once, however often its connector fails", async () => {
    const { storage, scope } = world();
    const get = vi.fn<Storage["get"]>(storage.get);
    const catalogs = new Catalogs([dead()], {}, { ...storage, get });
    await Promise.all([1, 2, 3].map(() => catalogs.load("crm", scope())));
    await catalogs.load("crm", scope());
    expect(get).toHaveBeenCalledTimes(1);
  });
});

describe("C2: the policy over a stored catalog", () => {
  const READS = { name: "get_record" };
  const silent = fakeTool("get_record", { annotations: {} });

  test("is the one of today, not of the day when it was stored", async () => {
    const { storage, scope } = world();
    const before = { ...CRM, policy: { readOnly: [READS.name] } };
    await earlier({ storage, scope }, [silent, fakeTool("secret")], before);
    const today = { ...CRM, policy: { hide: ["secret"], approval: [READS.name] } };
    const catalog = valueOf(await new Catalogs([dead(today)], {}, storage).load("crm", scope()));
    expect([...catalog.tools.keys()]).toEqual(["get_record"]);
    expect(catalog.tools.get("get_record")?.annotations).toEqual({ readOnlyHint: false });
  });

  test("brings back what was hidden then", async () => {
    const { storage, scope } = world();
    const before = { ...CRM, policy: { hide: [READS.name] } };
    await earlier({ storage, scope }, [silent, fakeTool("other")], before);
    const catalogs = new Catalogs([dead()], {}, storage);
    const catalog = valueOf(await catalogs.load("crm", scope()));
    expect([...catalog.tools.keys()]).toEqual(["get_record", "other"]);
    expect(catalog.tools.get("get_record")?.annotations).toEqual({});
  });
});

describe("C2: whose catalog is stored", () => {
  test("another definition under the same id does not get it", async () => {
    const { storage, scope } = world();
    await earlier({ storage, scope });
    const moved = dead(at("https://other.example/mcp"));
    const catalogs = new Catalogs([moved], {}, storage);
    expect(failureOf(await catalogs.load("crm", scope())).code).toBe("unavailable");
  });

  test("the store's keys do not tell what the connector leads to", async () => {
    const { storage, scope } = world();
    await earlier({ storage, scope }, undefined, at("https://crm.example/mcp?key=s3cret"));
    const keys = valueOf(await storage.list(""));
    expect(keys).toEqual([expect.stringMatching(/^catalog\/1\/crm\/[0-9a-f]{64}$/)]);
  });

  test.each([
    ["that never changes", { ...CRM, staticCatalog: true }],
    ["that does not say what it leads to", {}],
  ])("one of a connector %s is not", async (_, parts) => {
    const { storage, scope } = world();
    await earlier({ storage, scope }, undefined, parts);
    expect(valueOf(await storage.list(""))).toEqual([]);
  });

  test("a failed listing is not, and leaves the last good one", async () => {
    const { storage, scope, settle } = world();
    await earlier({ storage, scope });
    const between = new Catalogs([dead()], {}, storage);
    await between.load("crm", scope());
    await settle();
    await between.close();
    const catalogs = new Catalogs([dead()], {}, storage);
    expect((await catalogs.load("crm", scope())).ok).toBe(true);
  });
});

describe("C2: a store that fails", () => {
  const damage: Record<string, (value: string) => string> = {
    "was cut off": (value) => value.slice(0, -10),
    "holds another tool": (value) => value.replace("get_record", "del_record"),
    "is empty": () => "",
    "is something else": () => '{"tools":[]}',
  };

  test.each(Object.entries(damage))(
    "holding what %s is told once and not used",
    async (_, spoil) => {
      const { state, storage, scope } = world();
      await earlier({ storage, scope });
      const [key = ""] = valueOf(await storage.list(""));
      const value = valueOf(await storage.get(key)) ?? "";
      expect(spoil(value)).not.toBe(value);
      valueOf(await storage.set(key, spoil(value)));
      const catalogs = new Catalogs([dead()], {}, storage);
      for (let reader = 0; reader < 3; reader++) {
        expect(failureOf(await catalogs.load("crm", scope())).code).toBe("unavailable");
      }
      expect(state.told).toEqual([
        "The stored catalog of crm is not used: what the store holds is not what was stored.",
      ]);
    },
  );

  const broken = (how: () => Promise<Outcome<never>>): Storage => ({
    get: how,
    set: how,
    delete: how,
    list: how,
    compareAndSet: how,
  });

  test.each([
    ["says so", () => Promise.resolve(fail("unavailable", "The disk is gone."))],
    ["throws", () => Promise.reject(new Error("s3cret"))],
  ])("that %s fails no reader and is told once", async (_, how) => {
    const { state, scope, settle } = world();
    const crm = fakeConnector("crm", [fakeTool("a")], CRM);
    const catalogs = new Catalogs([crm], {}, broken(how));
    for (let hour = 0; hour < 3; hour++) {
      expect(names(await catalogs.load("crm", scope()))).toEqual(["a"]);
      await settle();
      state.time += STALE_MS;
    }
    expect(state.told).toHaveLength(1);
    expect(state.told[0]).toMatch(/^The stored catalog of crm is not used: /);
    expect(state.told.join()).not.toContain("s3cret");
  });

  test("by never answering delays a reader by its deadline alone", async () => {
    vi.useFakeTimers();
    try {
      const { scope } = world();
      const crm = fakeConnector("crm", [fakeTool("a")], CRM);
      const catalogs = new Catalogs(
        [crm],
        {},
        broken(() => new Promise(() => undefined)),
      );
      const load = catalogs.load("crm", scope());
      await vi.advanceTimersByTimeAsync(2_000);
      expect(names(await load)).toEqual(["a"]);
      const closed = catalogs.close();
      await vi.advanceTimersByTimeAsync(2_000);
      await closed;
    } finally {
      vi.useRealTimers();
    }
  });

  test("to hold a catalog because it is too large says so, and serves it", async () => {
    const { state, storage, scope, settle } = world();
    const large = fakeTool("a", { description: "x".repeat(16_777_216) });
    const crm = fakeConnector("crm", [large], CRM);
    expect(names(await new Catalogs([crm], {}, storage).load("crm", scope()))).toEqual(["a"]);
    await settle();
    expect(state.told).toEqual([
      expect.stringContaining("The stored catalog of crm could not be stored: "),
    ]);
  });

  test("a reader who leaves while it is read leaves the others their answer", async () => {
    const { storage, scope } = world();
    await earlier({ storage, scope });
    const gate = deferred<void>();
    const slow: Storage = {
      ...storage,
      get: async (key) => {
        await gate.promise;
        return storage.get(key);
      },
    };
    const catalogs = new Catalogs([dead()], {}, slow);
    const leaving = new AbortController();
    const gone = catalogs.load("crm", scope(leaving.signal));
    const patient = catalogs.load("crm", scope());
    leaving.abort();
    expect(failureOf(await gone).code).toBe("cancelled");
    gate.resolve();
    expect((await patient).ok).toBe(true);
  });
});

describe("S5: a connector that died while its catalog was stored", () => {
  test("is found by its tools, and named as unavailable once it was asked", async () => {
    const { storage, scope, settle } = world();
    await earlier({ storage, scope });
    const catalogs = new Catalogs([dead()], {}, storage);
    const first = valueOf(await search(catalogs, { query: "get record" }, MAX_PAGE, scope()));
    expect(first.tools[0]?.address).toBe("crm.get_record");
    await settle();
    const page = valueOf(await search(catalogs, { query: "get record" }, MAX_PAGE, scope()));
    expect(page.tools[0]?.address).toBe("crm.get_record");
    expect(page.unavailable).toEqual([
      {
        connector: "crm",
        code: "unavailable",
        message: "crm is down. Its tools are listed as they were.",
      },
    ]);
  });

  test("is not named any more when it is back", async () => {
    const { state, storage, scope, settle } = world();
    await earlier({ storage, scope });
    const crm = fakeConnector(
      "crm",
      (listing) =>
        Promise.resolve(listing === 1 ? fail("unavailable", "Down.") : ok([fakeTool("a")])),
      CRM,
    );
    const catalogs = new Catalogs([crm], {}, storage);
    const named = async () => {
      const page = valueOf(await search(catalogs, {}, MAX_PAGE, scope()));
      await settle();
      return page.unavailable?.map(({ connector }) => connector);
    };
    await named();
    expect(await named()).toEqual(["crm"]);
    state.time += MINUTE_MS;
    await named();
    expect(await named()).toBeUndefined();
    expect(names(await catalogs.load("crm", scope()))).toEqual(["a"]);
  });
});
