import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createConnecta, type Connecta, type Connector } from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { callTool } from "../support/gateway.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

/*
 * The deployments that README and documentation/connectors.md have a newcomer copy.
 */
const folder = mkdtempSync(join(tmpdir(), "connecta-first-"));
const program = readFileSync(
  new URL("../../examples/first/programs/largest.js", import.meta.url),
  "utf8",
);
const deployments: Connecta[] = [];

async function deployed(load: () => Promise<{ default: { connectors: Connector[] } }>) {
  const { default: config } = await load();
  const connecta = createConnecta({ ...config, executor: quickjsExecutor({ processes: 1 }) });
  deployments.push(connecta);
  return connecta;
}

let first: Connecta;
beforeAll(async () => {
  writeFileSync(join(folder, "small.txt"), "1");
  writeFileSync(join(folder, "large.txt"), "1".repeat(4_000));
  vi.stubEnv("FILES_FOLDER", folder);
  first = await deployed(() => import("../../examples/first/connecta.config.mjs"));
});
afterAll(async () => {
  await Promise.all(deployments.map((connecta) => connecta.close()));
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe("a connector in ten minutes", () => {
  test("its program shows the files, the largest first, and tells the model as much", async () => {
    const answer = await callTool(first, "execute_code", { code: program });
    expect(answer.structuredContent).toEqual({
      result: { total: 2, largest: "large.txt" },
      ui: true,
    });
    expect(answer._meta?.["connecta/ui"]).toMatchObject({
      html: expect.stringContaining('"name":"large.txt","bytes":4000'),
      reads: { again: { address: "files.list" } },
    });
  });

  test("a program may not rename, a visible call may", async () => {
    const args = { from: "small.txt", to: "tiny.txt" };
    const code = `async () => connecta.call("files.rename", ${JSON.stringify(args)})`;
    const refused = await callTool(first, "execute_code", { code });
    expect(refused.structuredContent).toMatchObject({
      error: { code: "destructive_tool_requires_approval" },
    });
    expect(readdirSync(folder)).toContain("small.txt");
    await callTool(first, "call_destructive_tool", { address: "files.rename", args });
    expect(readdirSync(folder).toSorted()).toEqual(["large.txt", "tiny.txt"]);
  });

  test.each(["../out.txt", "a/b", "..", "c\\d"])("a name such as %j leads nowhere", async (to) => {
    const args = { from: "large.txt", to };
    const answer = await callTool(first, "call_destructive_tool", {
      address: "files.rename",
      args,
    });
    expect(answer).toMatchObject({ isError: true });
    expect(readdirSync(folder)).toContain("large.txt");
  });
});

test("the least deployment lists the names in a folder", async () => {
  const least = await deployed(() => import("../../examples/least/connecta.config.mjs"));
  const code = `async () => connecta.call("downloads.list", { folder: ${JSON.stringify(folder)} })`;
  const answer = await callTool(least, "execute_code", { code });
  expect(answer.structuredContent).toMatchObject({ result: readdirSync(folder) });
});
