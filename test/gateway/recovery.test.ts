import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api, createConnecta, type Connecta, type Connector } from "../../server/index.ts";
import { withRecovery } from "../../server/invoke/recovery.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import {
  fail,
  FAILURES,
  failure,
  ok,
  type FailureCode,
  type NextAction,
} from "../../server/shared/failure.ts";
import { sources } from "../rules/tree.ts";
import { callTool, fixtureConnectors } from "../support/gateway.ts";

let connecta: Connecta;
const written: unknown[] = [];
const signedIn: string[] = [];

/** Fails for want of a sign-in, when it is called or already when its tools are listed. */
function locked(
  id: string,
  where: "calls" | "list",
  authorize?: Connector["authorize"],
): Connector {
  const refused = () => Promise.resolve(fail("auth_required", "Sign in first."));
  const tool = {
    name: "peek",
    description: "Peek.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  };
  return {
    id,
    kind: "api",
    listTools: where === "list" ? refused : () => Promise.resolve(ok([tool])),
    callTool: refused,
    ...(authorize && { authorize }),
  };
}

beforeAll(() => {
  const odd = api({
    id: "odd",
    tools: Object.fromEntries(
      ["a-b", "a_b"].map((name) => [
        name,
        {
          description: `The tool ${name}.`,
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: () => name,
        },
      ]),
    ),
  });
  connecta = createConnecta({
    connectors: [
      ...fixtureConnectors(written),
      odd,
      locked("vault", "calls", () => {
        signedIn.push("vault");
        return Promise.resolve(ok({ status: "pending", url: "https://a.example/sign-in" }));
      }),
      locked("safe", "calls"),
      locked("attic", "list", () => Promise.resolve(ok({ status: "pending" }))),
    ],
    executor: quickjsExecutor({ processes: 1 }),
  });
});
afterAll(() => connecta.close());

type Data = Record<string, unknown>;

const outside = async (name: string, args: Data) =>
  (await callTool(connecta, name, args)).structuredContent ?? {};

const inside = async (code: string) => {
  const { result } = await outside("execute_code", { code });
  return result as Data;
};

/** What a caller is told of a call that failed. */
const errorOf = async (name: string, args: Data) => (await outside(name, args)).error as Data;
const thrown = (expression: string) =>
  inside(`return ${expression}.then(() => null, (e) => ({ ...e, code: e.code }))`);

/** Makes the call as it is given, with nothing added. */
function follow(action: NextAction): Promise<Data> {
  return "tool" in action
    ? outside(action.tool, action.arguments)
    : inside(`return ${action.function}(${JSON.stringify(action.arguments)})`);
}

const call = (args: Data) => () => errorOf("call_tool", args);
const findsFirst = (address: string) => (answer: Data) => {
  const { connectors, tools } = answer as { connectors?: { tools: Data[] }[]; tools?: Data[] };
  expect((connectors?.[0]?.tools ?? tools)?.[0]).toMatchObject({ address });
};
const describesRecord = (answer: Data) => {
  const { connectors } = answer as { connectors?: { tools: Data[] }[] };
  const [tool] = connectors?.[0]?.tools ?? (answer as unknown as Data[]);
  expect(tool).toMatchObject({ address: "crm.get_record", inputSchema: { required: ["id"] } });
};
const asksToSignIn = (connector: string) => (answer: Data) =>
  expect(answer).toMatchObject({ ok: true, connector });

interface Row {
  readonly code: FailureCode;
  readonly surface: "outside" | "inside";
  /** Comes by the refusal, or by what else carries a next action. */
  readonly refusal: () => Promise<Data>;
  readonly leads: (answer: Data) => void;
}

const TITLED: Readonly<Record<string, Row>> = {
  "a misspelt tool": {
    code: "unknown_tool",
    surface: "outside",
    refusal: call({ address: "crm.get_recrod" }),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt tool in a program": {
    code: "unknown_tool",
    surface: "inside",
    refusal: () => thrown('connecta.call("crm.get_recrod")'),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt shortcut": {
    code: "unknown_tool",
    surface: "inside",
    refusal: () => thrown("crm.get_recrod()"),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt tool in a batch": {
    code: "unknown_tool",
    surface: "inside",
    refusal: () =>
      inside('return (await connecta.batch([{ address: "crm.get_recrod" }]))[0].error'),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt tool that is described": {
    code: "unknown_tool",
    surface: "inside",
    refusal: () =>
      inside('return (await connecta.describe({ address: "crm.get_recrod" }))[0].error'),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt tool that a view would read": {
    code: "unknown_tool",
    surface: "inside",
    refusal: () => thrown('connecta.ui("x", { reads: { a: { address: "crm.get_recrod" } } })'),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt connector": {
    code: "unknown_address",
    surface: "outside",
    refusal: call({ address: "crn.get_record" }),
    leads: findsFirst("crm.get_record"),
  },
  "a misspelt connector in a program": {
    code: "unknown_address",
    surface: "inside",
    refusal: () => thrown('connecta.call("crn.get_record")'),
    leads: findsFirst("crm.get_record"),
  },
  "a tool without its connector": {
    code: "unknown_address",
    surface: "outside",
    refusal: call({ address: "get record" }),
    leads: findsFirst("crm.get_record"),
  },
  "a search within a connector that there is not": {
    code: "unknown_address",
    surface: "outside",
    refusal: () => errorOf("search_tools", { connector: "crn" }),
    leads: (answer) => expect(answer).toMatchObject({ total: expect.any(Number) }),
  },
  "the same in a program": {
    code: "unknown_address",
    surface: "inside",
    refusal: () => thrown('connecta.search({ connector: "crn" })'),
    leads: (answer) => expect(answer).toMatchObject({ total: expect.any(Number) }),
  },
  "a sign-in to a connector that there is not": {
    code: "unknown_address",
    surface: "outside",
    refusal: () => errorOf("authorize_connector", { connector: "crn" }),
    leads: (answer) => expect(answer).toMatchObject({ total: expect.any(Number) }),
  },
  "a shortcut of two tools": {
    code: "ambiguous_tool_alias",
    surface: "inside",
    refusal: () => thrown("odd.a_b()"),
    leads: (answer) =>
      expect(answer).toMatchObject([
        { address: "odd.a-b", ok: true },
        { address: "odd.a_b", ok: true },
      ]),
  },
  "arguments that a tool refuses": {
    code: "invalid_args",
    surface: "outside",
    refusal: call({ address: "crm.get_record", args: { id: 5 } }),
    leads: describesRecord,
  },
  "arguments that a tool refuses in a program": {
    code: "invalid_args",
    surface: "inside",
    refusal: () => thrown("crm.get_record({ id: 5 })"),
    leads: describesRecord,
  },
  "a write": {
    code: "destructive_tool_requires_approval",
    surface: "outside",
    refusal: call({ address: "crm.update_record", args: { id: "r7" } }),
    leads: () => expect(written.splice(0)).toEqual([{ id: "r7" }]),
  },
  "a write in a program": {
    code: "destructive_tool_requires_approval",
    surface: "inside",
    refusal: () => thrown('crm.update_record({ id: "r8" })'),
    leads: () => expect(written.splice(0)).toEqual([{ id: "r8" }]),
  },
  "a missing sign-in": {
    code: "auth_required",
    surface: "outside",
    refusal: call({ address: "vault.peek" }),
    leads: (answer) => {
      asksToSignIn("vault")(answer);
      expect(answer).toMatchObject({ url: "https://a.example/sign-in" });
      expect(signedIn.splice(0)).toEqual(["vault"]);
    },
  },
  "a missing sign-in in a program": {
    code: "auth_required",
    surface: "inside",
    refusal: () => thrown("vault.peek()"),
    leads: asksToSignIn("vault"),
  },
  "a credential that nobody can renew here": {
    code: "auth_required",
    surface: "outside",
    refusal: call({ address: "safe.peek" }),
    leads: (answer) => {
      expect(answer).toMatchObject({ status: "not_required" });
      expect(answer.message).toMatch(/auth_required.*renews the credential/);
    },
  },
  "a tool list behind a sign-in": {
    code: "auth_required",
    surface: "outside",
    refusal: call({ address: "attic.peek" }),
    leads: asksToSignIn("attic"),
  },
  "the same in a description": {
    code: "auth_required",
    surface: "inside",
    refusal: () => inside('return (await connecta.describe({ address: "attic.peek" }))[0].error'),
    leads: asksToSignIn("attic"),
  },
  "a connector that a page could not search": {
    code: "auth_required",
    surface: "outside",
    refusal: async () => {
      const { unavailable } = await outside("search_tools", { query: "peek in the attic" });
      return (unavailable as Data[])[0] ?? {};
    },
    leads: asksToSignIn("attic"),
  },
  "a guide that there is not": {
    code: "not_found",
    surface: "outside",
    refusal: () => errorOf("skills", { name: "usagge" }),
    leads: (answer) =>
      expect(answer.skills).toContainEqual(expect.objectContaining({ name: "usage" })),
  },
};

describe("E3: the next action of a refusal, carried out as it is given", () => {
  test.each(Object.entries(TITLED))("of %s leads on", async (_, { code, refusal, leads }) => {
    const refused = await refusal();
    expect(refused.code).toBe(code);
    const action = refused.nextAction as NextAction;
    expect(action).toBeDefined();
    const answer = await follow(action);
    expect(answer.error).toBeUndefined();
    leads(answer);
  });

  test("of an announced result gives its bytes, page by page", async () => {
    const { nextAction } = await outside("call_tool", { address: "crm.big" });
    let [action, text] = [nextAction as NextAction | undefined, ""];
    while (action) {
      const page = await follow(action);
      text += page.text as string;
      action = page.nextAction as NextAction | undefined;
    }
    expect(text).toBe("é".repeat(200_000));
  });

  test("says what it leaves out: a write is never repeated without its arguments unseen", async () => {
    const args = { id: "x".repeat(600) };
    const long = await errorOf("call_tool", { address: "crm.update_record", args });
    expect(long.nextAction).toEqual({
      tool: "call_destructive_tool",
      arguments: { address: "crm.update_record" },
      omits: ["args"],
    });
    const without = await errorOf("call_tool", { address: "crm.update_record" });
    expect(without.nextAction).toEqual({
      tool: "call_destructive_tool",
      arguments: { address: "crm.update_record" },
    });
  });

  test("leads nowhere for arguments of what is no tool: there is none", async () => {
    const refused = await thrown("connecta.search({ limit: 1000 })");
    expect(refused).toMatchObject({ code: "invalid_args" });
    expect(refused.nextAction).toBeUndefined();
    expect(await thrown("connecta.describe({})")).not.toHaveProperty("nextAction");
  });
});

describe("E3: no next action is without a case", () => {
  const rows = Object.values(TITLED);
  const codes = Object.keys(FAILURES) as FailureCode[];
  const attempt = { address: "crm.get_record", args: { id: "r7" } };

  test.each(["outside", "inside"] as const)("of a code that has one %s a program", (surface) => {
    const advised = codes.filter(
      (code) => withRecovery(failure(code, ""), surface, attempt).nextAction !== undefined,
    );
    const shown = new Set(rows.filter((row) => row.surface === surface).map(({ code }) => code));
    // Shortcuts are of programs alone.
    const elsewhere = surface === "outside" ? ["ambiguous_tool_alias"] : [];
    expect(advised.filter((code) => !shown.has(code))).toEqual(elsewhere);
  });

  test("and nothing else of the server makes one", () => {
    const prose = /^server\/tools\/(?:texts|usage)\.ts$/;
    const makers = sources(/^server\/.*\.ts$/)
      .filter(({ path, text }) => !prose.test(path) && /\bnextAction\b/.test(text))
      .map(({ path }) => path);
    expect(makers.toSorted()).toEqual([
      "server/catalog/describe.ts",
      "server/catalog/loads.ts",
      // Hands on those of lists that could not be read.
      "server/catalog/search.ts",
      "server/invoke/recovery.ts",
      "server/invoke/stash.ts",
      "server/shared/failure.ts",
      "server/tools/skills.ts",
    ]);
  });
});
