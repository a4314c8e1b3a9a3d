import { spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ActivityStore } from "../../server/index.ts";
import { fileActivity, type FileActivityOptions } from "../../server/node/activity-file.ts";
import { activityEvent, activityEvents, readIds } from "../support/activity.ts";
import { valueOf } from "../support/catalog.ts";

const BUILT = new URL("../../dist/server/node.js", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "connecta-activity-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let file = "";
const opened: ActivityStore[] = [];
beforeEach(() => {
  file = join(folder, `${files++}`, "activity.jsonl");
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close?.()));
});

function open(options: Partial<FileActivityOptions> = {}): ActivityStore {
  const store = fileActivity({ file, ...options });
  opened.push(store);
  return store;
}

/** Records and waits until it is written. */
async function write(store: ActivityStore, ...ids: string[]): Promise<void> {
  const stored = ids.map((requestId) => store.record(activityEvent({ requestId })));
  await readIds(store);
  expect(await Promise.all(stored)).toEqual(ids.map(() => ({ ok: true, value: undefined })));
}

const lines = (path = file) => readFileSync(path, "utf8").split("\n");

describe("the file", () => {
  test("is not made before something is recorded, and then for its owner alone", async () => {
    const store = open();
    expect((await readIds(store)).ids).toEqual([]);
    expect(existsSync(file)).toBe(false);
    await write(store, "a");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  });

  test("holds a line of JSON for each call", async () => {
    await write(open(), "a", "b");
    const [first = "", second = "", ...rest] = lines();
    expect(rest).toEqual([""]);
    expect(JSON.parse(first)).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{13}-[0-9a-f]{8}$/) as string,
      time: 1_800_000_000_000,
      source: "call_tool",
      connector: "crm",
      tool: "get_record",
      address: "crm.get_record",
      outcome: "ok",
      durationMs: 12.5,
      attempts: 1,
      principal: "anonymous",
      requestId: "a",
    });
    expect(second > first).toBe(true);
  });

  test("ends half a line before the next one, so that one of them is lost and not two", async () => {
    await write(open(), "a", "b");
    truncateSync(file, statSync(file).size - 20);
    expect((await readIds(open())).ids).toEqual(["a"]);
    await write(open(), "c");
    expect((await readIds(open())).ids).toEqual(["c", "a"]);
    expect(lines()).toHaveLength(4);
  });

  test("gives what is whole of a file that somebody spoiled, and nothing that is not an event", async () => {
    const store = open();
    await write(store, "a");
    const [ours = ""] = lines();
    const foreign = JSON.stringify({ ...(JSON.parse(ours) as object), note: "sk-live-1" });
    appendFileSync(file, `\0\0\0\n[]\nnull\n{"id":1}\n\n${foreign}\n${"x".repeat(200_000)}\n`);
    await write(store, "b");
    expect((await readIds(store)).ids).toEqual(["b", "a", "a"]);
    expect(JSON.stringify(await store.read())).not.toContain("sk-live-1");
  });

  test("lines are put together where they lie across pieces of the file", async () => {
    const store = open();
    const events = activityEvents(1_000).map((event, at) => ({
      ...event,
      address: "é🦊".repeat(at % 21),
    }));
    for (const event of events) void store.record(event);
    const page = valueOf(await store.read({ limit: 1_000 }));
    expect(page.events).toEqual(events.toReversed());
    expect(statSync(file).size).toBeGreaterThan(3 * 64 * 1024);
  });

  test("that is moved or removed is begun anew", async () => {
    const store = open();
    await write(store, "a");
    renameSync(file, `${file}.old`);
    await write(store, "b");
    rmSync(file);
    await write(store, "c");
    expect((await readIds(store)).ids).toEqual(["c"]);
  });
});

describe("rotation", () => {
  const small = { maxBytes: 4_096, files: 3 };

  test("keeps so many files of so many bytes, the newest of them", async () => {
    const store = open(small);
    for (const { requestId } of activityEvents(100)) await write(store, requestId);
    const paths = [file, `${file}.1`, `${file}.2`];
    for (const path of paths) expect(statSync(path).size).toBeLessThanOrEqual(4_096);
    expect(existsSync(`${file}.3`)).toBe(false);
    const { ids } = await readIds(store, { limit: 1_000 });
    expect(ids).toEqual(Array.from(ids, (_, at) => String(99 - at)));
    expect(ids.length).toBeGreaterThan(30);
    expect(ids.length).toBeLessThan(60);
  });

  test("parts what comes at once, and a single file is begun anew", async () => {
    const store = open({ maxBytes: 4_096, files: 1 });
    for (const event of activityEvents(100)) void store.record(event);
    const { ids } = await readIds(store);
    expect(statSync(file).size).toBeLessThanOrEqual(4_096);
    expect(ids[0]).toBe("99");
    expect(existsSync(`${file}.1`)).toBe(false);
  });

  test("takes no event away from who follows, unless its file is gone", async () => {
    const store = open(small);
    const reader = open(small);
    let { cursor } = await readIds(reader);
    const seen: string[] = [];
    for (const { requestId } of activityEvents(60)) {
      await write(store, requestId);
      const page = await readIds(reader, { after: cursor });
      seen.push(...page.ids);
      cursor = page.cursor;
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => String(at)));
    await write(store, ...activityEvents(100).map(({ requestId }) => requestId));
    const { ids } = await readIds(reader, { after: cursor, limit: 1_000 });
    expect(ids.at(-1)).toBe("99");
    expect(ids.length).toBeLessThan(60);
  });

  test("that was interrupted leaves a gap in the numbers, which is passed over", async () => {
    const store = open(small);
    for (const { requestId } of activityEvents(40)) await write(store, requestId);
    const before = await readIds(store);
    renameSync(`${file}.1`, `${file}.2`);
    const { ids } = await readIds(store);
    expect(before.ids.slice(0, ids.length)).toEqual(ids);
    await write(store, "next");
    expect((await readIds(store)).ids).toEqual(["next", ...ids]);
  });
});

describe("a file that cannot be used", () => {
  test("is a failure that names it and the reason, and is tried again", async () => {
    mkdirSync(file, { recursive: true });
    const store = open();
    const failed = await store.record(activityEvent());
    const message = `${file} cannot be written: EISDIR.`;
    expect(failed).toMatchObject({ ok: false, failure: { code: "unavailable", message } });
    expect(await store.read()).toMatchObject({ ok: false, failure: { code: "unavailable" } });
    rmSync(file, { recursive: true });
    await write(store, "a");
    expect((await readIds(store)).ids).toEqual(["a"]);
  });

  test.runIf(process.getuid?.() !== 0)("may be forbidden", async () => {
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "");
    chmodSync(file, 0o000);
    expect(await open().record(activityEvent())).toMatchObject({
      failure: { message: `${file} cannot be written: EACCES.` },
    });
  });

  test.each([
    [{}, "fileActivity({ file: 'activity.jsonl' })"],
    [{ file: "" }, "fileActivity() needs a file"],
    [{ file: "a", maxBytes: 10 }, "maxBytes is a whole number from 4096"],
    [{ file: "a", files: 0 }, "files is a whole number from 1 to 100"],
  ])("options %j are refused, naming the fix", (options, message) => {
    expect(() => fileActivity(options as never)).toThrow(message);
  });
});

/** Records without end, and says which event was stored last. */
const WRITER = `
  import { fileActivity } from ${JSON.stringify(BUILT)};
  const [file, round] = process.argv.slice(1);
  const store = fileActivity({ file, maxBytes: 64 * 1024, files: 100 });
  const event = { time: Date.now(), source: "call_tool", address: "crm.\u00e9", outcome: "ok",
    durationMs: 1, attempts: 1, principal: "anonymous" };
  for (let at = 0; ; at++) {
    const stored = store.record({ ...event, requestId: round + "/" + at });
    if (at % 200 === 199) { await stored; process.stdout.write(at + "\\n"); }
  }`;

/** Starts a writer and kills it after it stored something; answers the last that it said. */
async function killed(round: number): Promise<number> {
  const writer = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    WRITER,
    file,
    String(round),
  ]);
  let said = "";
  writer.stdout.on("data", (data: Buffer) => {
    said += String(data);
    if (said.split("\n").length > 2 + round) writer.kill("SIGKILL");
  });
  await new Promise((resolve) => writer.on("close", resolve));
  return Number(said.trimEnd().split("\n").at(-1));
}

test("a writer that is killed takes nothing with it that was stored, and spoils one line at most", async () => {
  const rounds = 4;
  const stored: number[] = [];
  for (let round = 0; round < rounds; round++) stored.push(await killed(round));
  expect(stored.every((last) => last > 0)).toBe(true);
  const store = open({ maxBytes: 64 * 1024, files: 100 });
  const kept = new Set<string>();
  for (let after = "0", more = true; more;) {
    const { ids, cursor } = await readIds(store, { after, limit: 1_000 });
    for (const id of ids) kept.add(id);
    after = cursor;
    more = ids.length > 0;
  }
  for (const [round, last] of stored.entries()) {
    const missing = Array.from({ length: last + 1 }, (_, at) => `${round}/${at}`).filter(
      (id) => !kept.has(id),
    );
    expect(missing).toEqual([]);
  }
  const all = Array.from({ length: 100 }, (_, at) => (at === 0 ? file : `${file}.${at}`))
    .filter((path) => existsSync(path))
    .flatMap((path) => lines(path).filter((line) => line !== ""));
  expect(all.length - kept.size).toBeLessThanOrEqual(rounds);
}, 60_000);
