import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker } from "../../server/invoke/invoke.ts";
import { Stash } from "../../server/invoke/stash.ts";
import { Runner } from "../../server/programs/runner.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import type { Executor } from "../../server/shared/contracts.ts";
import { defaultExecuteLimits } from "../../server/shared/limits.ts";
import { Log } from "../../server/shared/log.ts";
import { Telemetry } from "../../server/shared/telemetry.ts";
import { defineTools, type ToolDefinition } from "../../server/tools/definitions.ts";
import { createMcp } from "../../server/tools/mcp.ts";
import { fixtureConnectors, rpc, type Era } from "../support/gateway.ts";

/*
 * View declarations live on tool descriptors alone: a reference server without them answers every
 * tool with the same bytes.
 */
let executor: Executor;
const faults: string[] = [];
beforeAll(() => {
  executor = quickjsExecutor({ processes: 1 });
});
afterAll(() => executor.close?.());

function server(declares: boolean) {
  const connectors = fixtureConnectors();
  const catalogs = new Catalogs(connectors);
  const invoker = new Invoker(catalogs);
  const limits = defaultExecuteLimits();
  const tools = defineTools(connectors).map(({ _meta, ...tool }) =>
    declares ? { ...tool, _meta } : (tool as ToolDefinition),
  );
  return createMcp({
    name: "connecta",
    version: "1",
    connectors,
    catalogs,
    invoker,
    runner: new Runner({ connectors, executor, limits, catalogs, invoker }),
    stash: new Stash(),
    callTimeoutMs: 5_000,
    instructions: undefined,
    log: new Log((entry) => faults.push(entry.message), "warn"),
    telemetry: new Telemetry("1", []),
    tools,
  });
}

const CALLS: [string, Record<string, unknown>][] = [
  ["execute_code", { code: "return { n: 1 }" }],
  ["execute_code", { code: 'async () => { await connecta.ui("<p>x</p>"); return 1 }' }],
  ["execute_code", { code: "throw new Error('no')" }],
  ["search_tools", { query: "record" }],
  ["call_tool", { address: "crm.get_record", args: { id: "r7" } }],
  ["call_tool", { address: "crm.get_record", args: { id: "r7" }, resultMode: "mcp" }],
  ["call_tool", { address: "crm.update_record", args: { id: "r7" } }],
  ["call_tool", { address: "crm.big", args: { chars: 50_000 } }],
  ["call_destructive_tool", { address: "crm.update_record", args: { id: "r7" } }],
  ["authorize_connector", { connector: "crm" }],
  ["get_result", { id: "nothing" }],
  ["skills", { name: "usage" }],
];

/** Ids of stashed results are random: the one thing that may differ. */
const steady = (text: string) => text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID");

describe.each<Era>(["legacy", "modern"])("%s results with and without view declarations", (era) => {
  test.each(CALLS)("%s %j: byte-identical, and no result names a resource", async (name, args) => {
    const params = { name, arguments: args };
    const declared = await rpc(server(true), "tools/call", params, era);
    const reference = await rpc(server(false), "tools/call", params, era);
    expect(declared.result).toBeDefined();
    expect(steady(declared.text)).toBe(steady(reference.text));
    expect(declared.text).not.toContain("resourceUri");
    expect(faults).toEqual([]);
  });

  test("control: the descriptors do differ", async () => {
    const declared = await rpc(server(true), "tools/list", {}, era);
    const reference = await rpc(server(false), "tools/list", {}, era);
    expect(declared.text).toContain("resourceUri");
    expect(reference.text).not.toContain("resourceUri");
  });
});
