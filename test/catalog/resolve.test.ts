import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { failureOf, fakeConnector, fakeTool, HOSTILE_NAMES, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

function catalogsOf(lists: Readonly<Record<string, readonly string[]>>): Catalogs {
  return new Catalogs(
    Object.entries(lists).map(([id, names]) =>
      fakeConnector(
        id,
        names.map((name) => fakeTool(name)),
      ),
    ),
  );
}

describe("A1: a canonical address", () => {
  test("leads to its connector and tool", async () => {
    const catalogs = catalogsOf({ crm: ["get_record"], hr: ["get_record"] });
    const found = valueOf(await catalogs.resolve("hr.get_record", testScope()));
    expect(found.connector.id).toBe("hr");
    expect(found.tool.name).toBe("get_record");
    expect(found.catalog.connectorId).toBe("hr");
  });

  test("loads no other connector's catalog (A2)", async () => {
    const crm = fakeConnector("crm", [fakeTool("a")]);
    const hr = fakeConnector("hr", [fakeTool("b")]);
    await new Catalogs([crm, hr]).resolve("crm.a", testScope());
    expect([crm.listed(), hr.listed()]).toEqual([1, 0]);
  });

  test("belongs to the longest connector id that stands before a dot", async () => {
    const catalogs = catalogsOf({ a: ["b.c", "x"], "a.b": ["c"] });
    expect(valueOf(await catalogs.resolve("a.b.c", testScope())).connector.id).toBe("a.b");
    expect(valueOf(await catalogs.resolve("a.x", testScope())).connector.id).toBe("a");
  });

  test("is never sanitized", async () => {
    const catalogs = catalogsOf({ crm: ["create-issue"] });
    expect((await catalogs.resolve("crm.create-issue", testScope())).ok).toBe(true);
    const failure = failureOf(await catalogs.resolve("crm.create_issue", testScope()));
    expect(failure.code).toBe("unknown_tool");
    expect(failure.suggestions).toEqual(["crm.create-issue"]);
  });

  test.each(HOSTILE_NAMES)("leads to a tool even when that is called %j", async (name) => {
    const catalogs = catalogsOf({ crm: HOSTILE_NAMES });
    expect(valueOf(await catalogs.resolve(`crm.${name}`, testScope())).tool.name).toBe(name);
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "of %s is unknown where no tool is called so",
    async (name) => {
      const catalogs = catalogsOf({ crm: ["get"] });
      expect(failureOf(await catalogs.resolve(`crm.${name}`, testScope())).code).toBe(
        "unknown_tool",
      );
      expect(failureOf(await catalogs.resolve(`${name}.get`, testScope())).code).toBe(
        "unknown_address",
      );
    },
  );

  test.each(["", ".", "crm", ".get", "nothing at all", "crm get"])(
    "is not %j, which is an unknown address",
    async (address) => {
      const failure = failureOf(await catalogsOf({ crm: ["get"] }).resolve(address, testScope()));
      expect(failure.code).toBe("unknown_address");
    },
  );

  test("that is megabytes of dots is refused with a clamped echo (E3)", async () => {
    const failure = failureOf(
      await catalogsOf({ crm: ["get"] }).resolve(".é".repeat(500_000), testScope()),
    );
    expect(failure.code).toBe("unknown_address");
    expect(new TextEncoder().encode(failure.address).length).toBeLessThanOrEqual(512);
    expect(new TextEncoder().encode(failure.message).length).toBeLessThanOrEqual(700);
  });
});

describe("E3: a missed address suggests", () => {
  test("at most three tools of the connector, the nearest spelling first", async () => {
    const catalogs = catalogsOf({
      crm: ["get_record", "get_records", "list_records", "delete_record", "get_owner"],
    });
    const failure = failureOf(await catalogs.resolve("crm.get_recrod", testScope()));
    expect(failure.suggestions?.[0]).toBe("crm.get_record");
    expect(failure.suggestions?.length).toBeLessThanOrEqual(3);
  });

  test("what means the same, when nothing is spelt alike", async () => {
    const catalogs = catalogsOf({ crm: ["create_issue", "list_users", "export_report"] });
    const failure = failureOf(await catalogs.resolve("crm.make_ticket", testScope()));
    expect(failure.suggestions).toContain("crm.create_issue");
  });

  test("the connector that was probably meant, once its catalog is known", async () => {
    const catalogs = catalogsOf({ github: ["create_issue"] });
    await catalogs.load("github", testScope());
    const failure = failureOf(await catalogs.resolve("gihtub.create_issue", testScope()));
    expect(failure.code).toBe("unknown_address");
    expect(failure.suggestions).toEqual(["github.create_issue"]);
  });

  test("the address of a bare tool name", async () => {
    const catalogs = catalogsOf({ github: ["create_issue"], hr: ["hire"] });
    await catalogs.load("github", testScope());
    const failure = failureOf(await catalogs.resolve("create_issue", testScope()));
    expect(failure.suggestions).toEqual(["github.create_issue"]);
  });

  test("nothing, rather than something cut short", async () => {
    const catalogs = catalogsOf({ crm: ["x".repeat(600)] });
    const failure = failureOf(await catalogs.resolve("crm.xx", testScope()));
    expect(failure.suggestions).toBeUndefined();
  });
});

describe("A2, A3: a shortcut", () => {
  test("stands for the tool whose sanitized name it is", async () => {
    const catalogs = catalogsOf({ crm: ["create-issue", "delete", "9lives"] });
    for (const [property, name] of [
      ["create_issue", "create-issue"],
      ["delete_", "delete"],
      ["_9lives", "9lives"],
    ] as const) {
      expect(valueOf(await catalogs.shortcut("crm", property, testScope()))).toBe(`crm.${name}`);
    }
  });

  test("that one tool bears and another comes to is ambiguous: it might mean either", async () => {
    const catalogs = catalogsOf({ crm: ["create-issue", "create_issue"] });
    const failure = failureOf(await catalogs.shortcut("crm", "create_issue", testScope()));
    expect(failure.code).toBe("ambiguous_tool_alias");
    expect(failure.addresses).toEqual(["crm.create-issue", "crm.create_issue"]);
  });

  test("in brackets stands for the tool of exactly that name", async () => {
    const catalogs = catalogsOf({ crm: ["create-issue", "create_issue"] });
    expect(valueOf(await catalogs.shortcut("crm", "create-issue", testScope()))).toBe(
      "crm.create-issue",
    );
  });

  test("that matches two tools fails closed and names both addresses", async () => {
    const catalogs = catalogsOf({ crm: ["create-issue", "create.issue"] });
    const failure = failureOf(await catalogs.shortcut("crm", "create_issue", testScope()));
    expect(failure.code).toBe("ambiguous_tool_alias");
    expect(failure.addresses).toEqual(["crm.create-issue", "crm.create.issue"]);
  });

  test.each(["__proto__", "constructor", "then"])("called %s is unknown", async (property) => {
    const failure = failureOf(
      await catalogsOf({ crm: ["a"] }).shortcut("crm", property, testScope()),
    );
    expect(failure.code).toBe("unknown_tool");
  });
});
