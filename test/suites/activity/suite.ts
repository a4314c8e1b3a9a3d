import { afterEach, describe, expect, test } from "vitest";
import type { ActivityEvent, ActivityQuery, ActivityStore } from "../../../server/index.ts";
import { followActivity } from "../../../server/shared/activity-follow.ts";
import { activityEvent, activityEvents, readIds } from "../../support/activity.ts";
import { failureOf, valueOf } from "../../support/catalog.ts";

/** Opens an empty store; the same name again opens what the first one left, where that can be. */
export type OpenActivity = (name: string) => ActivityStore;

interface Opened {
  readonly store: ActivityStore;
  /** Opens the same once more, as another process would. */
  again(): ActivityStore;
}

let names = 0;

/**
 * Registers what every store of recorded calls must do.
 * @param name the store's
 */
export function activitySuite(name: string, open: OpenActivity): void {
  const opened: ActivityStore[] = [];
  const fresh = (): Opened => {
    const name = `store-${names++}`;
    const again = () => {
      const store = open(name);
      opened.push(store);
      return store;
    };
    return { store: again(), again };
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close?.()));
  });

  describe(`recorded calls in ${name}`, () => {
    givesBack(fresh);
    goesOn(fresh);
    filters(fresh);
    refuses(fresh);
    follows(fresh);
    if (open("volatile").isVolatile !== true) outlives(fresh);
  });
}

type Fresh = () => Opened;

async function keep(store: ActivityStore, events: readonly ActivityEvent[]): Promise<void> {
  for (const event of events) void store.record(event);
}

/** The ids of this page and of every one after it. */
async function pages(store: ActivityStore, query: ActivityQuery): Promise<string[]> {
  const all: string[] = [];
  for (let { ids, cursor } = await readIds(store, query); ids.length > 0;) {
    all.push(...ids);
    ({ ids, cursor } = await readIds(store, { ...query, after: cursor }));
  }
  return all;
}

function givesBack(fresh: Fresh): void {
  test("T1: gives an event back as it was recorded", async () => {
    const { store } = fresh();
    const events = [
      activityEvent(),
      activityEvent({
        source: "execute_code",
        outcome: "failed",
        code: "unknown_address",
        connector: undefined,
        tool: undefined,
        address: '"}\n{"名前🦊\u0000\u2028',
        attempts: 0,
        durationMs: 0,
        runId: "run-1",
      }),
    ];
    await keep(store, events);
    expect(valueOf(await store.read()).events).toEqual(events.toReversed());
  });

  test("gives nothing where nothing was recorded", async () => {
    const { ids, cursor } = await readIds(fresh().store);
    expect(ids).toEqual([]);
    expect(typeof cursor).toBe("string");
  });

  test("gives the newest first, a hundred unless more or fewer are asked for", async () => {
    const { store } = fresh();
    await keep(store, activityEvents(250));
    const newest = Array.from({ length: 250 }, (_, at) => String(249 - at));
    expect((await readIds(store)).ids).toEqual(newest.slice(0, 100));
    expect((await readIds(store, { limit: 3 })).ids).toEqual(["249", "248", "247"]);
    expect((await readIds(store, { limit: 1_000 })).ids).toEqual(newest);
  });
}

function goesOn(fresh: Fresh): void {
  test("a cursor leads to what came after it, oldest first, until nothing is left", async () => {
    const { store } = fresh();
    const [first, second, third, fourth, fifth] = activityEvents(5) as [
      ActivityEvent,
      ActivityEvent,
      ActivityEvent,
      ActivityEvent,
      ActivityEvent,
    ];
    await keep(store, [first, second]);
    const { cursor } = await readIds(store, { limit: 1 });
    expect((await readIds(store, { after: cursor })).ids).toEqual([]);
    await keep(store, [third]);
    const one = await readIds(store, { after: cursor });
    expect(one.ids).toEqual(["2"]);
    await keep(store, [fourth, fifth]);
    expect((await readIds(store, { after: one.cursor })).ids).toEqual(["3", "4"]);
    expect((await readIds(store, { after: cursor })).ids).toEqual(["2", "3", "4"]);
  });

  test("a cursor of the empty store leads to everything", async () => {
    const { store } = fresh();
    const { cursor } = await readIds(store);
    await keep(store, activityEvents(3));
    expect((await readIds(store, { after: cursor })).ids).toEqual(["0", "1", "2"]);
  });

  test("pages after a cursor leave nothing out and repeat nothing", async () => {
    const { store } = fresh();
    const { cursor } = await readIds(store);
    await keep(store, activityEvents(100));
    await readIds(store);
    await keep(store, activityEvents(200).slice(100));
    const all = await pages(store, { after: cursor, limit: 30 });
    expect(all).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
  });

  test("pages of some of the events go on where they ended", async () => {
    const { store } = fresh();
    const { cursor } = await readIds(store);
    const events = activityEvents(90).map((event, at) => {
      return { ...event, outcome: at % 3 === 0 ? ("failed" as const) : ("ok" as const) };
    });
    await keep(store, events);
    const all = await pages(store, { after: cursor, limit: 7, outcome: "failed" });
    expect(all).toEqual(Array.from({ length: 30 }, (_, at) => String(at * 3)));
  });
}

function filters(fresh: Fresh): void {
  test.each([
    [{ connector: "crm" }, ["0", "1", "2", "3"]],
    [{ connector: "cr" }, []],
    [{ outcome: "failed" as const }, ["1", "4"]],
    [{ outcome: "ok" as const }, ["0", "2", "3"]],
    [{ source: "execute_code" as const }, ["2"]],
    [{ principal: "ada" }, ["3"]],
    [{ connector: "crm", outcome: "failed" as const }, ["1"]],
    [{ connector: undefined }, ["0", "1", "2", "3", "4"]],
  ])("gives those alone that are asked for: %j", async (filter, expected) => {
    const { store } = fresh();
    const { cursor } = await readIds(store);
    const varied: Partial<ActivityEvent>[] = [
      {},
      { outcome: "failed", code: "timeout" },
      { source: "execute_code", runId: "run-1" },
      { principal: "ada" },
      { connector: undefined, tool: undefined, outcome: "failed", code: "unknown_address" },
    ];
    await keep(
      store,
      varied.map((parts, at) => activityEvent({ ...parts, requestId: String(at) })),
    );
    expect((await readIds(store, filter)).ids).toEqual(expected.toReversed());
    expect((await readIds(store, { ...filter, after: cursor })).ids).toEqual(expected);
  });
}

function refuses(fresh: Fresh): void {
  test.each([0, -1, 1.5, 1_001, Number.NaN])("refuses a limit of %d", async (limit) => {
    const { store } = fresh();
    expect(failureOf(await store.read({ limit }))).toMatchObject({ code: "invalid_args" });
  });
}

function follows(fresh: Fresh): void {
  test("is followed: what comes is given in order, until the follower leaves", async () => {
    const { store } = fresh();
    const { cursor } = await readIds(store);
    const leaving = new AbortController();
    const options = { signal: leaving.signal, everyMs: 1, outcome: "ok" as const };
    const seen: string[] = [];
    const events = activityEvents(6);
    await keep(store, events.splice(0, 2));
    for await (const more of followActivity(store, cursor, options)) {
      seen.push(...valueOf(more).map(({ requestId }) => requestId));
      await keep(store, events.splice(0, 1));
      if (seen.length === 6) leaving.abort();
    }
    expect(seen).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  test("a follower is told when the store cannot be read", async () => {
    const { store } = fresh();
    const broken: ActivityStore = {
      record: () => undefined,
      read: () => store.read({ limit: -1 }),
    };
    const { signal } = new AbortController();
    const codes: string[] = [];
    for await (const told of followActivity(broken, "", { signal })) {
      codes.push(failureOf(told).code);
    }
    expect(codes).toEqual(["invalid_args"]);
  });
}

function outlives(fresh: Fresh): void {
  test("what was recorded before closing is there for the next process, and the cursor too", async () => {
    const { store, again } = fresh();
    await keep(store, activityEvents(2));
    const { cursor } = await readIds(store, { limit: 1 });
    await keep(store, activityEvents(3).slice(2));
    await store.close?.();
    const next = again();
    expect((await readIds(next)).ids).toEqual(["2", "1", "0"]);
    expect((await readIds(next, { after: cursor })).ids).toEqual(["2"]);
  });

  test("another process reads what is recorded, as soon as that is stored", async () => {
    const { store, again } = fresh();
    const reader = again();
    expect((await readIds(reader)).ids).toEqual([]);
    expect(await store.record(activityEvent({ requestId: "here" }))).toEqual({
      ok: true,
      value: undefined,
    });
    expect((await readIds(reader)).ids).toEqual(["here"]);
  });

  test("a closed store takes nothing more, and says so", async () => {
    const { store } = fresh();
    await store.close?.();
    const refused = await store.record(activityEvent());
    expect(refused).toMatchObject({ ok: false, failure: { code: "unavailable" } });
    expect(failureOf(await store.read())).toMatchObject({ code: "unavailable" });
  });
}
