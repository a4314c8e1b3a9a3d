import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Server from "../../server/index.ts";
import { api, type Connecta } from "../../server/index.ts";
import { rpc } from "../support/gateway.ts";

/*
 * Server and shell are built one after the other; this finds a server that was built with another
 * shell than the one that stands beside it, or with none. It runs after a build, as all tests do.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}dist/shell/index.html`);

const NOTHING = api({ id: "nothing", tools: {} });
const executor = { execute: () => Promise.resolve({ result: null }) };

let connecta: Connecta;
beforeAll(async () => {
  // By its name, as whoever installed the package gets it.
  const entry = pathToFileURL(createRequire(import.meta.url).resolve("connecta")).href;
  const built = (await import(/* @vite-ignore */ entry)) as typeof Server;
  connecta = built.createConnecta({ connectors: [NOTHING], executor });
});
afterAll(() => connecta.close());

/** The page that the built server hands out, at the address that its tool names. */
async function served(): Promise<string> {
  const { result } = await rpc(connecta, "tools/list");
  const [execute] = result.tools as { _meta: { ui: { resourceUri: string } } }[];
  const uri = execute?._meta.ui.resourceUri ?? "";
  const { result: read } = await rpc(connecta, "resources/read", { uri });
  const [item, ...more] = read.contents as { uri: string; text: string }[];
  expect([item?.uri, more]).toEqual([uri, []]);
  return item?.text ?? "";
}

/** The source hash of each shell that a built file carries, in whatever quotes. */
function carried(text: string): readonly string[] {
  const found = text.matchAll(/connecta-shell-src-sha256\\?" content=\\?"([0-9a-f]{64})/g);
  return [...found].map(([, hash = ""]) => hash);
}

describe("the built server", () => {
  test("U5, U13: hands out the built shell, byte for byte", async () => {
    const page = Buffer.from(await served(), "utf8");
    expect(page.byteLength).toBe(PAGE.byteLength);
    expect(page.equals(PAGE)).toBe(true);
    expect(page.byteLength).toBeGreaterThan(100_000);
  });

  test("U13: at the address of the last recorded version", async () => {
    const versions = JSON.parse(readFileSync(`${ROOT}shell/versions.json`, "utf8")) as unknown[];
    const { error } = await rpc(connecta, "resources/read", {
      uri: `ui://connecta/program-ui/v${versions.length + 1}`,
    });
    expect(error).toMatchObject({ code: -32_602 });
    const { result } = await rpc(connecta, "resources/read", {
      uri: `ui://connecta/program-ui/v${versions.length}`,
    });
    expect(result.contents).toHaveLength(1);
  });

  test("and the built host page carry one shell, the same", () => {
    const [today] = carried(PAGE.toString("utf8"));
    expect(today).toMatch(/^[0-9a-f]{64}$/);
    const files = ["dist/server", "dist/host"].map((folder) =>
      readdirSync(ROOT + folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".js"))
        .flatMap((file) => carried(readFileSync(`${ROOT}${folder}/${file}`, "utf8"))),
    );
    expect(files).toEqual([[today], [today]]);
  });

  test("with an older shell inside would be caught", () => {
    const older = PAGE.toString("utf8").replace("<title>", "<title> ");
    expect(Buffer.from(older).equals(PAGE)).toBe(false);
    expect(carried(JSON.stringify(older))).toEqual(carried(PAGE.toString("utf8")));
    expect(carried("no shell at all")).toEqual([]);
  });
});
