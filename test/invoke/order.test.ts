import { expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker, type Invocation } from "../../server/invoke/invoke.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { fail, ok } from "../../server/shared/failure.ts";
import { testScope } from "../support/scope.ts";

/** Follows in which order a connector is asked for what. */
function followed() {
  const asked: string[] = [];
  const tool = (name: string, readOnlyHint: boolean) => ({
    name,
    description: name,
    inputSchema: { type: "object", required: ["id"] },
    annotations: { readOnlyHint },
  });
  const connector: Connector = {
    id: "crm",
    kind: "api",
    listTools: () => {
      asked.push("list");
      return Promise.resolve(ok([tool("read", true), tool("write", false)]));
    },
    callTool: (name) => {
      asked.push(name);
      return Promise.resolve(fail("not_found", "Gone."));
    },
  };
  const invoker = new Invoker(new Catalogs([connector]));
  const call = async (address: string, access: Invocation["access"], args: unknown) => {
    const more = {
      surface: "outside",
      source: "call_tool",
      timeoutMs: 1_000,
      maxRetries: 0,
    } as const;
    const done = await invoker.invoke({ address, args, access, ...more }, testScope());
    return [done.ok ? "ok" : done.failure.code, ...asked.splice(0)];
  };
  return call;
}

test.each<[string, string, Invocation["access"], unknown, readonly string[]]>([
  ["an unknown connector is not asked for anything", "crn.write", "read", {}, ["unknown_address"]],
  [
    "an unknown tool is looked for in the list, whatever its arguments",
    "crm.wrote",
    "read",
    {},
    ["unknown_tool", "list"],
  ],
  [
    "a write is refused a reader before its arguments are looked at",
    "crm.write",
    "read",
    {},
    ["destructive_tool_requires_approval", "list"],
  ],
  [
    "arguments are looked at before the tool is called, also of a write",
    "crm.write",
    "write",
    {},
    ["invalid_args", "list"],
  ],
  ["and of a read", "crm.read", "read", {}, ["invalid_args", "list"]],
  [
    "control: in order, the tool is called, once",
    "crm.read",
    "read",
    { id: 1 },
    ["not_found", "list", "read"],
  ],
])("I1: %s", async (_, address, access, args, expected) => {
  expect(await followed()(address, access, args)).toEqual(expected);
});
