import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callTool, fixtureGateway, type Fixture } from "../support/gateway.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway();
});
afterAll(() => fixture.connecta.close());

const call = (name: string, args: Record<string, unknown>) =>
  callTool(fixture.connecta, name, args);

describe("call_tool", () => {
  test("I3: an api tool answers { ok, data }, structured and as the same text", async () => {
    const answer = await call("call_tool", { address: "crm.get_record", args: { id: "r7" } });
    expect(answer.structuredContent).toEqual({
      ok: true,
      data: { id: "r7", name: "Record r7", amount: 137 },
    });
    expect(answer.content).toEqual([
      { type: "text", text: JSON.stringify(answer.structuredContent) },
    ]);
    expect(answer.isError).toBeUndefined();
  });

  test("I3: mcp mode hands over blocks instead of an envelope", async () => {
    const answer = await call("call_tool", {
      address: "crm.get_record",
      args: { id: "r7" },
      resultMode: "mcp",
    });
    expect(answer.structuredContent).toEqual({ id: "r7", name: "Record r7", amount: 137 });
    expect(answer.content).toEqual([
      { type: "text", text: '{"id":"r7","name":"Record r7","amount":137}' },
    ]);
  });

  test("I6: fields keeps the named paths and reports the others", async () => {
    const answer = await call("call_tool", {
      address: "crm.get_record",
      args: { id: "r7" },
      fields: ["name", "phone"],
    });
    expect(answer.structuredContent).toEqual({
      ok: true,
      data: { name: "Record r7" },
      missingFields: ["phone"],
    });
  });

  test("I5: a large result is announced, and get_result pages to the identical text", async () => {
    const answer = await call("call_tool", { address: "crm.big", args: { chars: 60_000 } });
    expect(answer.structuredContent).toMatchObject({
      ok: true,
      truncated: true,
      totalBytes: 120_000,
    });
    let next = answer.structuredContent?.nextAction as
      | { tool: string; arguments: Record<string, unknown> }
      | undefined;
    let text = "";
    while (next) {
      const page = (await call(next.tool, next.arguments)).structuredContent ?? {};
      text += page.text as string;
      next =
        page.nextOffset === undefined
          ? undefined
          : { tool: "get_result", arguments: { id: page.id, offset: page.nextOffset } };
    }
    expect(text).toBe("é".repeat(60_000));
  });

  test("I8: a tool that is not read-only is refused with the one call that may run it", async () => {
    const answer = await call("call_tool", { address: "crm.update_record", args: { id: "r7" } });
    expect(answer.isError).toBe(true);
    expect(answer.structuredContent).toMatchObject({
      ok: false,
      error: {
        code: "destructive_tool_requires_approval",
        retryable: false,
        nextAction: {
          tool: "call_destructive_tool",
          arguments: { address: "crm.update_record", args: { id: "r7" } },
        },
      },
    });
    expect(fixture.written).toEqual([]);
  });

  test("E3: long arguments are not said again in a refusal", async () => {
    const args = { id: "x".repeat(600) };
    const answer = await call("call_tool", { address: "crm.update_record", args });
    expect(answer.structuredContent).toMatchObject({
      error: { nextAction: { arguments: { address: "crm.update_record" } } },
    });
    expect(JSON.stringify(answer)).not.toContain("xxx");
  });

  test("I8: control: call_destructive_tool runs it, and the reason goes nowhere", async () => {
    const answer = await call("call_destructive_tool", {
      address: "crm.update_record",
      args: { id: "r7" },
      reason: "The customer asked for it.",
    });
    expect(answer.structuredContent).toEqual({ ok: true, data: { changed: true } });
    expect(fixture.written).toEqual([{ id: "r7" }]);
  });

  test("I2: wrong arguments get findings without their values", async () => {
    const answer = await call("call_tool", {
      address: "crm.get_record",
      args: { id: 5, x: "secret" },
    });
    const { error } = answer.structuredContent as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: "invalid_args", address: "crm.get_record" });
    expect(error.findings).toContainEqual({ path: "id", code: "type", expected: "string" });
    expect(JSON.stringify(answer)).not.toContain("secret");
  });

  test("E3: misses lead to search_tools with words of what was asked for", async () => {
    for (const [address, code] of [
      ["crm.get_recrod", "unknown_tool"],
      ["nothing.at_all", "unknown_address"],
      ["__proto__.constructor", "unknown_address"],
    ]) {
      const answer = await call("call_tool", { address });
      expect(answer.structuredContent).toMatchObject({
        error: { code, nextAction: { tool: "search_tools" } },
      });
    }
  });

  test("E1: a tool's own failure keeps its code", async () => {
    const answer = await call("call_tool", { address: "crm.get_record", args: { id: "gone" } });
    expect(answer.structuredContent).toMatchObject({
      error: { code: "not_found", message: "No such record.", address: "crm.get_record" },
    });
  });

  test("I4: a call past its deadline is a timeout", async () => {
    const answer = await call("call_tool", { address: "crm.slow", timeoutMs: 20 });
    expect(answer.structuredContent).toMatchObject({
      error: { code: "timeout", retryable: true, timeoutMs: 20 },
    });
  });

  test("E1: arguments of the seven tools themselves are checked, unknown ones refused", async () => {
    const answer = await call("call_tool", { adress: "crm.get_record" });
    expect(answer.isError).toBe(true);
    expect(answer.structuredContent).toMatchObject({ ok: false, error: { code: "invalid_args" } });
  });
});

describe("the other tools", () => {
  test("S2: search_tools groups what it finds by connector", async () => {
    const answer = await call("search_tools", { query: "get a record", includeSchemas: "compact" });
    const { connectors, offset, limit } = answer.structuredContent as {
      connectors: { id: string; tools: { address: string; requiredInputKeys: string[] }[] }[];
      offset: number;
      limit: number;
    };
    expect(connectors[0]).toMatchObject({ id: "crm" });
    expect(connectors[0]?.tools[0]).toMatchObject({
      address: "crm.get_record",
      requiredInputKeys: ["id"],
    });
    expect({ offset, limit }).toEqual({ offset: 0, limit: 8 });
  });

  test("skills lists guides and hands one over", async () => {
    const listed = await call("skills", {});
    expect(listed.structuredContent?.skills).toEqual([
      { name: "usage", about: "How to write programs and views." },
      { name: "crm", about: "Customer records" },
    ]);
    const usage = await call("skills", { name: "usage" });
    expect(usage.structuredContent?.guide).toContain("return");
    expect((await call("skills", { name: "crm" })).structuredContent?.guide).toBe(
      "Use ids like r7.",
    );
    expect((await call("skills", { name: "zzz" })).structuredContent).toMatchObject({
      error: { code: "not_found", suggestions: ["usage", "crm"] },
    });
  });

  test("authorize_connector says when there is nothing to authorize, and knows no other", async () => {
    expect(
      (await call("authorize_connector", { connector: "crm" })).structuredContent,
    ).toMatchObject({
      ok: true,
      status: "not_required",
    });
    expect((await call("authorize_connector", { connector: "x" })).structuredContent).toMatchObject(
      {
        error: { code: "unknown_address", nextAction: { tool: "search_tools" } },
      },
    );
  });
});
