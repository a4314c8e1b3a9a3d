import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { describe as describeTools } from "../../server/catalog/describe.ts";
import { fail } from "../../server/shared/failure.ts";
import { failureOf, fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

const inputSchema = {
  type: "object",
  properties: { id: { type: "string", description: "Which record" } },
  required: ["id"],
  additionalProperties: false,
};

function catalogs(): Catalogs {
  return new Catalogs([
    fakeConnector("crm", [
      fakeTool("get_record", {
        title: "Get a record",
        description: `Get one record. ${"Long. ".repeat(100)}`,
        inputSchema,
        outputSchema: { type: "object", properties: { name: { type: "string" } } },
      }),
      fakeTool("list_records"),
    ]),
    fakeConnector("down", () => Promise.resolve(fail("unavailable", "It is down."))),
  ]);
}

const ask = (input: unknown) => describeTools(catalogs(), input, testScope());

describe("S6: describe", () => {
  test("gives a tool in full: its whole description, its exact schemas and a compact text", async () => {
    expect(valueOf(await ask({ address: "crm.get_record" }))).toEqual([
      {
        address: "crm.get_record",
        ok: true,
        name: "get_record",
        title: "Get a record",
        description: `Get one record. ${"Long. ".repeat(100)}`,
        annotations: { readOnlyHint: true },
        inputSchema,
        outputSchema: { type: "object", properties: { name: { type: "string" } } },
        signature: "(args: { id: string /* Which record */ }) => { name?: string }",
      },
    ]);
  });

  test("gives one entry per address, in order, however often one is asked for", async () => {
    const addresses = ["crm.list_records", "crm.get_record", "crm.list_records"];
    const entries = valueOf(await ask({ addresses }));
    expect(entries.map(({ address }) => address)).toEqual(addresses);
  });

  test("answers a bad address in its place, with suggestions and a way on, and never fails the others", async () => {
    const entries = valueOf(
      await ask({ addresses: ["crm.get_recrod", "crm.get_record", "down.x", "nothing"] }),
    );
    expect(entries.map((entry) => entry.ok)).toEqual([false, true, false, false]);
    expect(entries[0]).toMatchObject({
      address: "crm.get_recrod",
      ok: false,
      error: {
        code: "unknown_tool",
        retryable: false,
        nextAction: { function: "connecta.search", arguments: { query: "crm.get_recrod" } },
      },
    });
    const [first] = entries;
    expect(first?.ok === false && first.error.suggestions?.[0]).toBe("crm.get_record");
    expect(entries[2]).toMatchObject({ error: { code: "unavailable", connector: "down" } });
    expect(entries[3]).toMatchObject({ error: { code: "unknown_address" } });
  });

  test("clamps an address that it echoes (E3)", async () => {
    const [entry] = valueOf(await ask({ address: "é".repeat(5_000) }));
    expect(new TextEncoder().encode(entry?.address).length).toBeLessThanOrEqual(512);
  });

  test.each([
    [undefined],
    [{}],
    [{ address: 7 }],
    [{ address: "" }],
    [{ addresses: [] }],
    [{ addresses: "crm.get_record" }],
    [{ addresses: ["crm.get_record", 7] }],
    [{ address: "crm.get_record", addresses: ["crm.get_record"] }],
    [{ address: "crm.get_record", extra: true }],
  ])("refuses %j with findings (S7)", async (input) => {
    const failure = failureOf(await ask(input));
    expect(failure.code).toBe("invalid_args");
    expect(failure.findings?.length).toBeGreaterThan(0);
  });

  test("takes a hundred addresses and not one more (S7)", async () => {
    const hundred = Array.from({ length: 100 }, () => "crm.list_records");
    expect(valueOf(await ask({ addresses: hundred }))).toHaveLength(100);
    const failure = failureOf(await ask({ addresses: [...hundred, "crm.list_records"] }));
    expect(failure.findings).toEqual([
      { path: "addresses", code: "too_big", expected: "at most 100" },
    ]);
  });

  test("refuses more than 256,000 bytes instead of cutting them (S7)", async () => {
    const big = fakeTool("big", { description: "x".repeat(3_000) });
    const addresses = Array.from({ length: 100 }, () => "crm.big");
    const outcome = await describeTools(
      new Catalogs([fakeConnector("crm", [big])]),
      { addresses },
      testScope(),
    );
    expect(failureOf(outcome).code).toBe("result_too_large");
  });
});
