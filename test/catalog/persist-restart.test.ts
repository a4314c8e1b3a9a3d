import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  createConnecta,
  type Connector,
  type Executor,
  type LogEntry,
} from "../../server/index.ts";
import { sqliteStorage } from "../../server/node/storage-sqlite.ts";
import { fail } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";
import { callTool } from "../support/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "connecta-restart-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const idle: Executor = { execute: () => Promise.resolve({ result: null }) };
const down = () => Promise.resolve(fail("unavailable", "crm is down."));
const identity = () => "https://crm.example/mcp";

/** A deployment on a file, as `serve` would start it again and again. */
function deployment(file: string, connector: Connector) {
  const storage = sqliteStorage({ file: join(folder, file) });
  const told: string[] = [];
  const log = (entry: LogEntry) => {
    if (entry.level === "error" || entry.level === "warn") told.push(entry.message);
  };
  const connecta = createConnecta({ connectors: [connector], executor: idle, storage, log });
  const search = async () => {
    const { structuredContent } = await callTool(connecta, "search_tools", { query: "record" });
    return structuredContent;
  };
  return { connecta, search, told };
}

describe("C2: a deployment that starts again", () => {
  test("finds the tools of a connector that is down meanwhile, and calls say that it is", async () => {
    const first = deployment("a.db", fakeConnector("crm", [fakeTool("get_record")], { identity }));
    await first.search();
    await first.connecta.close();

    const dead = fakeConnector("crm", down, { identity, callTool: down });
    const second = deployment("a.db", dead);
    const found = await second.search();
    expect(found).toMatchObject({ connectors: [{ id: "crm", tools: [{ name: "get_record" }] }] });
    const called = await callTool(second.connecta, "call_tool", { address: "crm.get_record" });
    expect(called.isError).toBe(true);
    expect(called.structuredContent).toMatchObject({ error: { code: "unavailable" } });
    expect(await second.search()).toMatchObject({
      connectors: [{ id: "crm", tools: [{ name: "get_record" }] }],
      unavailable: [{ connector: "crm", code: "unavailable" }],
    });
    expect(second.told).toEqual([]);
    await second.connecta.close();
  });

  test("control: on another file it finds nothing, and says why", async () => {
    const other = deployment("b.db", fakeConnector("crm", down, { identity }));
    expect(await other.search()).toMatchObject({
      connectors: [],
      unavailable: [{ connector: "crm", code: "unavailable" }],
    });
    await other.connecta.close();
  });
});
