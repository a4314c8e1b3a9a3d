import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connecta } from "../../server/index.ts";
import { callTool, fixtureGateway, rpc } from "../support/gateway.ts";

let connecta: Connecta;
beforeAll(() => {
  connecta = fixtureGateway({ execute: { maxHostCalls: 2 } }).connecta;
});
afterAll(() => connecta.close());

/** Everything that a client can see of what there is, and the limit of programs. */
async function seen(): Promise<string> {
  const list = await rpc(connecta, "tools/list");
  const page = await callTool(connecta, "search_tools", { includeSchemas: "json", limit: 50 });
  const code = "for (let i = 0; ; i++) await connecta.search({}).catch((e) => { throw e; })";
  const program = await callTool(connecta, "execute_code", { code });
  return JSON.stringify([list.result, page.structuredContent, program.structuredContent]);
}

test("G6: nothing that a client sends changes connectors, tools, annotations or limits", async () => {
  const before = await seen();
  expect(before).toContain("maxHostCalls: 1 asked for, 0 of 2 are left");
  const hints = { annotations: { readOnlyHint: true }, readOnlyHint: true };
  const tries: [string, Record<string, unknown>][] = [
    ["execute_code", { code: "return 1", execute: { maxHostCalls: 99 } }],
    ["execute_code", { code: "return 1", limits: { maxHostCalls: 99 } }],
    ["execute_code", { code: "connecta.search = () => 1; crm.get_record = 2; crm = 3; return 1" }],
    [
      "execute_code",
      { code: "Object.prototype.readOnlyHint = true; return crm.update_record({})" },
    ],
    ["call_tool", { address: "crm.update_record", args: { id: "a" }, ...hints }],
    ["call_tool", { address: "crm.update_record", args: { id: "a", ...hints } }],
    ["call_destructive_tool", { address: "crm.update_record", args: { id: "a" } }],
    ["authorize_connector", { connector: "crm", force: true }],
    ["skills", { name: "usage", guide: "other" }],
  ];
  for (const [name, args] of tries) await callTool(connecta, name, args);
  for (const method of ["tools/register", "tools/list_changed", "logging/setLevel", "initialize"]) {
    await rpc(connecta, method, { tools: [], level: "debug" });
  }
  for (const path of ["/health", "/config", "/connectors", "/mcp/tools", "/"]) {
    for (const method of ["PUT", "POST", "PATCH", "DELETE"]) {
      const response = await connecta.fetch(
        new Request(`http://127.0.0.1:8787${path}`, { method, body: '{"connectors":[]}' }),
      );
      expect(response.ok, `${method} ${path}`).toBe(false);
    }
  }
  expect(await seen()).toBe(before);
});
