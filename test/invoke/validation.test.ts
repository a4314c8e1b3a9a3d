import { afterEach, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker } from "../../server/invoke/invoke.ts";
import type { Connector, Tool } from "../../server/shared/contracts.ts";
import { ok } from "../../server/shared/failure.ts";
import { invocation } from "../support/invocation.ts";
import { testScope } from "../support/scope.ts";

afterEach(() => void vi.restoreAllMocks());

const CALL = invocation({ args: { id: "a" } });

/** A server whose list is made anew each time it is asked for, and how to make it say otherwise. */
function server(kind: Connector["kind"], pattern = "^[a-z]$") {
  let type = "string";
  let announce = () => {};
  const tool = (): Tool => ({
    name: "read",
    description: "Read.",
    inputSchema: { type: "object", properties: { id: { type, pattern } } },
    annotations: { readOnlyHint: true },
  });
  const connector: Connector = {
    id: "crm",
    kind,
    onToolsChanged: (listener) => void (announce = listener),
    listTools: () => Promise.resolve(ok([tool()])),
    callTool: () => Promise.resolve(ok({ kind: "value", value: 1 })),
  };
  return {
    invoker: new Invoker(new Catalogs([connector])),
    refresh(as: string) {
      type = as;
      announce();
    },
  };
}

test("I2: a schema is prepared once, however often it is used and its list is read anew", async () => {
  const { invoker, refresh } = server("mcp");
  const copied = vi.spyOn(globalThis, "structuredClone");
  for (let again = 0; again < 3; again++) {
    expect(await invoker.invoke(CALL, testScope())).toMatchObject({ ok: true });
  }
  refresh("string");
  expect(await invoker.invoke(CALL, testScope())).toMatchObject({ ok: true });
  expect(copied).toHaveBeenCalledTimes(1);
});

test("I2: control: a schema that changed is prepared anew and enforced", async () => {
  const { invoker, refresh } = server("mcp");
  expect(await invoker.invoke(CALL, testScope())).toMatchObject({ ok: true });
  refresh("integer");
  expect(await invoker.invoke(CALL, testScope())).toMatchObject({
    failure: { code: "invalid_args", findings: [{ path: "id", code: "type" }] },
  });
});

test("I2: what could take forever is left to a server, and enforced for the deployment's own", async () => {
  const pattern = "^(b+)+$";
  const outcome = (kind: Connector["kind"]) =>
    server(kind, pattern).invoker.invoke(CALL, testScope());
  expect(await outcome("mcp")).toMatchObject({ ok: true });
  expect(await outcome("api")).toMatchObject({ failure: { findings: [{ code: "pattern" }] } });
});
