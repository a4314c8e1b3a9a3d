import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { sqliteStorage } from "../../../server/node/storage-sqlite.ts";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import { storageSuite } from "./suite.ts";

const folder = mkdtempSync(join(tmpdir(), "connecta-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

storageSuite("memory", (now) => memoryStorage({ now }));
storageSuite("an SQLite file", (now) =>
  sqliteStorage({ file: join(folder, `${files++}.db`), now }),
);
