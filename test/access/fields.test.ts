import { describe, expect, test } from "vitest";
import { CredentialDesk } from "../../server/access/desk.ts";
import { newVaultKey, readVaultKeys } from "../../server/access/keys.ts";
import { api, ToolError } from "../../server/connectors/api.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { memoryStorage } from "../../server/shared/drivers/memory.ts";
import { failureOf, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

const KEY = newVaultKey();
const SECRET = "sk-correct-horse-battery-staple";
const scope = testScope();

const crm = () =>
  api({
    id: "crm",
    credential: {
      fields: { user: "User name", token: { title: "API token", description: "Settings" } },
      instructions: "Make one under Settings.",
      test: ({ credential }) => {
        if (credential.token !== SECRET) throw new ToolError(`${credential.token} is no good.`);
      },
    },
    tools: {
      whoami: {
        description: "Who.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        handler: (_: unknown, { credential }) => ({ user: credential.user }),
      },
      tell: {
        description: "Fails with its credential.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        handler: (_: unknown, { credential }) => {
          throw new ToolError(`Refused ${credential.token}.`);
        },
      },
      crash: {
        description: "Throws its credential.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        handler: (_: unknown, { credential }) => {
          throw new Error("outer", { cause: new RangeError(`header ${credential.token}`) });
        },
      },
    },
  });

function deployed(connector: Connector = crm(), storage = memoryStorage(), operatorUrl?: string) {
  const desk = new CredentialDesk({
    connectors: [connector],
    storage,
    keys: readVaultKeys({ key: KEY }),
    name: "connecta",
    origin: () => undefined,
    operatorUrl: () => operatorUrl,
  });
  return { desk, connector, storage };
}

const BOTH = { user: "ada", token: SECRET };

describe("values that a person hands over", () => {
  test("are missed by name, and used by the next call", async () => {
    const { desk, connector } = deployed();
    const failure = failureOf(await connector.callTool("whoami", {}, scope));
    expect(failure).toMatchObject({ code: "auth_required", connector: "crm" });
    expect(failure.message).toContain("User name");
    valueOf(await desk.set("crm", BOTH));
    expect(valueOf(await connector.callTool("whoami", {}, scope))).toEqual({
      kind: "value",
      value: { user: "ada" },
    });
  });

  test("reach every instance, and survive a restart", async () => {
    const storage = memoryStorage();
    const [one, two] = [deployed(crm(), storage), deployed(crm(), storage)];
    valueOf(await one.desk.set("crm", BOTH));
    expect((await two.connector.callTool("whoami", {}, scope)).ok).toBe(true);
    valueOf(await one.desk.set("crm", { user: "bob" }));
    expect(await two.connector.callTool("whoami", {}, scope)).toMatchObject({
      value: { value: { user: "bob" } },
    });
    valueOf(await two.desk.remove("crm", "user"));
    expect(failureOf(await one.connector.callTool("whoami", {}, scope)).code).toBe("auth_required");
  });

  test("are asked for by exactly one instruction", async () => {
    const { desk, connector } = deployed();
    const told = valueOf(await desk.authorize("crm", scope));
    expect(told).toEqual({
      status: "credential_needed",
      message:
        "Ask the person who runs this gateway to hand the credential over: " +
        "connecta credentials set crm",
      instructions: "Make one under Settings.",
    });
    valueOf(await desk.set("crm", BOTH));
    expect(valueOf((await connector.authorize?.(scope, false))!)).toMatchObject({
      status: "credential_set",
    });
    expect(valueOf((await connector.authorize?.(scope, true))!)).toEqual(told);
  });

  test("are asked for on the operator's page where there is one", async () => {
    const { desk } = deployed(crm(), memoryStorage(), "https://mcp.example.com/operator");
    expect(valueOf(await desk.authorize("crm", scope)).message).toContain(
      "https://mcp.example.com/operator#crm",
    );
  });

  test("are tried by the connector's own test, whose words hide them", async () => {
    const { desk } = deployed();
    valueOf(await desk.set("crm", { ...BOTH, token: "sk-wrong-horse" }));
    const failure = failureOf(await desk.test("crm", scope));
    expect(failure.message).toBe("[redacted] is no good.");
    valueOf(await desk.set("crm", BOTH));
    expect(valueOf(await desk.test("crm", scope))).toBe("crm accepts its credential.");
  });

  test.each([
    ["no field", { password: "x" }],
    ["an empty value", { token: "" }],
    ["half a character", { token: "\ud800" }],
    ["too much", { token: "x".repeat(64 * 1024 + 1) }],
  ])("%s is refused, and nothing is changed", async (_, values) => {
    const { desk, connector } = deployed();
    valueOf(await desk.set("crm", BOTH));
    const failure = failureOf(await desk.set("crm", { user: "bob", ...values }));
    expect(failure.code).toBe("invalid_args");
    expect(await connector.callTool("whoami", {}, scope)).toMatchObject({
      value: { value: { user: "ada" } },
    });
  });
});

describe("what an operator is shown", () => {
  test.each([
    [SECRET, "aple"],
    ["0123456789abcdef", "cdef"],
    ["0123456789abcde", undefined],
    ["ab", undefined],
  ])("of %j at most the end, and none of a short one: %j", async (token, ending) => {
    const { desk } = deployed();
    valueOf(await desk.set("crm", { token }));
    const [state] = await desk.list();
    if (state?.kind !== "fields") throw new Error("These are fields.");
    expect(state.fields).toEqual([
      { name: "user", title: "User name", state: "missing" },
      {
        name: "token",
        title: "API token",
        description: "Settings",
        state: "set",
        ...(ending !== undefined && { ending }),
      },
    ]);
  });

  test("with another key: that it cannot be read, and a call says the same", async () => {
    const { storage } = deployed();
    const first = deployed(crm(), storage);
    valueOf(await first.desk.set("crm", BOTH));
    const connector = crm();
    const desk = new CredentialDesk({
      connectors: [connector],
      storage,
      keys: readVaultKeys({ key: newVaultKey() }),
      name: "connecta",
      origin: () => undefined,
    });
    const failure = failureOf(await connector.callTool("whoami", {}, scope));
    expect(failure.message).toContain("vault.key (CONNECTA_VAULT_KEY)");
    expect(await desk.list()).toMatchObject([
      { fields: [{ state: "unreadable", message: failure.message }, { state: "unreadable" }] },
    ]);
    // Handing it over anew is one of the ways out.
    valueOf(await desk.set("crm", BOTH));
    expect((await connector.callTool("whoami", {}, scope)).ok).toBe(true);
  });
});

describe("errors of a handler", () => {
  test("that hold the credential reach nobody as they are", async () => {
    const { desk, connector } = deployed();
    valueOf(await desk.set("crm", BOTH));
    const reported: unknown[] = [];
    const noting = testScope({ report: (error) => reported.push(error) });
    expect(failureOf(await connector.callTool("tell", {}, noting)).message).toBe(
      "Refused [redacted].",
    );
    await connector.callTool("crash", {}, noting);
    const [crash] = reported;
    if (!(crash instanceof Error) || !(crash.cause instanceof Error)) throw new Error("Not told.");
    expect([crash.message, crash.cause.name, crash.cause.message]).toEqual([
      "outer",
      "RangeError",
      "header [redacted]",
    ]);
    expect(crash.stack + String(crash.cause.stack)).not.toContain(SECRET);
  });
});

describe("a credential in the options of api()", () => {
  const options = { tools: {} };

  test.each([
    [{ fields: {} }, "api(crm).credential.fields is missing"],
    [{ fields: { "1x": "One" } }, "api(crm).credential.fields.1x"],
    [{ fields: { x: "" } }, "api(crm).credential.fields.x has no title"],
    [{ fields: { x: "X" }, instructions: 1 }, "api(crm).credential.instructions is no text"],
    [{ fields: { x: "X" }, test: 1 }, "api(crm).credential.test is not a function"],
  ])("%j stops the start", (credential, message) => {
    expect(() => api({ id: "crm", ...options, credential: credential as never })).toThrow(message);
  });

  test("outside of a deployment is a failure, not a crash", async () => {
    expect(failureOf(await crm().callTool("whoami", {}, scope)).code).toBe("auth_required");
  });
});
