import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { memoryActivity, memoryStorage, storageActivity } from "../../../server/index.ts";
import type { Storage } from "../../../server/index.ts";
import { fileActivity } from "../../../server/node/activity-file.ts";
import { sqliteStorage } from "../../../server/node/storage-sqlite.ts";
import { activitySuite } from "./suite.ts";

const folder = mkdtempSync(join(tmpdir(), "connecta-activity-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store that stays for the next one who opens it. */
const shared = new Map<string, Storage>();
function lasting(name: string): Storage {
  const storage = shared.get(name) ?? memoryStorage();
  shared.set(name, storage);
  return { ...storage, close: () => Promise.resolve() };
}

activitySuite("memory", () => memoryActivity());
activitySuite("a file", (name) => fileActivity({ file: join(folder, `${name}.jsonl`) }));
activitySuite("files of 4 KiB", (name) => {
  return fileActivity({ file: join(folder, `${name}.jsonl`), maxBytes: 4_096, files: 100 });
});
activitySuite("a store of keys in memory", (name) =>
  storageActivity({ storage: lasting(name), flushMs: 5 }),
);
activitySuite("a store of keys without waiting", (name) =>
  storageActivity({ storage: lasting(name), flushMs: 0 }),
);
activitySuite("a store of keys in an SQLite file", (name) => {
  return storageActivity({ storage: sqliteStorage({ file: join(folder, `${name}.db`) }) });
});
