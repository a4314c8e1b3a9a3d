import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "./support/chromium.ts";

/** What a deployment may weigh: 1,781,057 and 498,672 bytes when it was last looked at. */
const MAX_BYTES = 1_900_000;
const MAX_GZIP_BYTES = 550_000;

/** Packages in the Worker; a new one is a decision. */
const PACKAGES = [
  "@cfworker/json-schema",
  "@cloudflare/codemode",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/server",
  "acorn",
  "eventsource",
  "eventsource-parser",
  "hono",
  "jose",
  "pkce-challenge",
  "zod",
];

interface Bundle {
  readonly inputs: Readonly<Record<string, { readonly imports: readonly { path: string }[] }>>;
  readonly outputs: Readonly<
    Record<
      string,
      {
        readonly imports: readonly { readonly path: string }[];
        readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
      }
    >
  >;
}

const folder = mkdtempSync(join(tmpdir(), "connecta-bundle-"));
let bundle: Bundle;

beforeAll(() => {
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  const config = `${ROOT}examples/worker/wrangler.jsonc`;
  const args = ["deploy", "--dry-run", "--config", config, "--outdir", folder, "--metafile"];
  execFileSync(process.execPath, [join(dirname(wrangler), "bin/wrangler.js"), ...args], {
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_LOG_PATH: folder,
    },
    stdio: "pipe",
  });
  bundle = JSON.parse(readFileSync(join(folder, "bundle-meta.json"), "utf8")) as Bundle;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("nothing in the Worker's graph of modules needs Node, with or without the platform's help", () => {
  const builtin = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
  const named = [
    ...Object.keys(bundle.inputs),
    ...Object.values(bundle.inputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
    ...Object.values(bundle.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
  ];
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => builtin.has(name) || name.includes("unenv"))).toEqual([]);
  const left = Object.values(bundle.outputs).flatMap(({ imports }) => imports);
  expect([...new Set(left.map(({ path }) => path))]).toEqual(["cloudflare:workers"]);
  const config = readFileSync(`${ROOT}examples/worker/wrangler.jsonc`, "utf8");
  expect(config).not.toMatch(/"nodejs_compat/);
});

test("the Worker holds these packages and no other", () => {
  const files = Object.values(bundle.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const packages = files.flatMap((file) => {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
    return name === undefined ? [] : [name];
  });
  expect([...new Set(packages)].toSorted()).toEqual(PACKAGES);
});

test("the Worker stays within its budget", () => {
  const code = readFileSync(join(folder, "worker.js"));
  expect(code.length).toBeLessThanOrEqual(MAX_BYTES);
  expect(gzipSync(code).length).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  // A budget that is far away holds nothing.
  expect(code.length).toBeGreaterThan(MAX_BYTES / 2);
});
