import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteStorage } from "../../server/node/storage-sqlite.ts";
import { chance } from "../../verify/soak/chance.mjs";
import { killRounds } from "../../verify/soak/rounds.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
// Within the repository, because the writers find the database's package from there.
const out = join(root, "verify/out");
mkdirSync(out, { recursive: true });
const dir = mkdtempSync(join(out, "kill-"));

beforeAll(async () => {
  await build({
    root,
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: join(root, "server/node/storage-sqlite.ts"),
      outDir: join(dir, "built"),
      minify: false,
      target: "node20",
    },
  });
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("a process that is killed while it writes", () => {
  const built = pathToFileURL(join(dir, "built/storage-sqlite.js")).href;
  const file = join(dir, "store.db");

  test("takes no answered write with it, and leaves a store that can be read", async () => {
    const open = () => sqliteStorage({ file });
    const options = { file, rounds: 10, random: chance(7), module: built, open };
    const { steps, lost } = await killRounds(options);
    expect(lost).toEqual([]);
    expect(steps).toBeGreaterThan(100);
  }, 60_000);

  test("control: a write that was taken back is seen", async () => {
    const forgetful = () => {
      const store = sqliteStorage({ file });
      const list: typeof store.list = async (prefix) => {
        await store.delete("last");
        return store.list(prefix);
      };
      return Object.assign(Object.create(store), {
        list,
        get: (key: string) => store.get(key),
        close: () => store.close?.(),
      });
    };
    const options = { file, rounds: 1, random: chance(7), module: built, open: forgetful };
    const { lost } = await killRounds(options);
    expect(lost).toEqual([expect.stringMatching(/last is missing, was answered 0\/\d+/)]);
  }, 60_000);
});
