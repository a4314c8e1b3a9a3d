import { api, createConnecta, type Connector, type Executor } from "../../../../server/index.ts";
import { expect, answers, each, fails, resultThat, seen, type Case } from "../case.ts";
import { ODD_NAMES } from "../connectors.ts";

const ODD = JSON.stringify(ODD_NAMES);

/** The canonical address. */
const CANONICAL: readonly Case[] = [
  {
    clauses: ["A1"],
    title: "every tool is called by its canonical address, whatever its name",
    code: `const names = ${ODD};
      const called = [];
      for (const name of names.slice(0, 8)) called.push(await connecta.call("odd." + name, {}));
      for (const part of [names.slice(8, 15), ["a-b", "a_b"]]) {
        const entries = await connecta.batch(part.map((name) => ({ address: "odd." + name })));
        called.push(...entries.map(({ ok, data }) => ok && data));
      }
      return called`,
    check: answers([...ODD_NAMES, "a-b", "a_b"]),
  },
  {
    clauses: ["A1"],
    title: "a connector whose id is no identifier is called by its id",
    code: `return [await connecta.call("tickets-eu.list-open"), await connecta.call("new.status")]`,
    check: answers(["list-open", "status"]),
  },
  {
    clauses: ["A1", "E1"],
    title: "an address is never sanitized: a shortcut's spelling is no address",
    code: `const codes = [];
      for (const address of ["tickets_eu.list-open", "new_.status", "odd.with_space", "odd.delete_", "crm", "crm.", ".get_record", "CRM.get_record"]) {
        codes.push(await connecta.call(address).then(() => "called", (e) => e.code));
      }
      return codes`,
    check: answers([
      "unknown_address",
      "unknown_address",
      "unknown_tool",
      "unknown_tool",
      "unknown_address",
      "unknown_tool",
      "unknown_address",
      "unknown_address",
    ]),
  },
  {
    clauses: ["A1"],
    title: "batch answers each call in its order, and a failed one fails alone",
    code: `return connecta.batch([
      { address: "crm.get_record", args: { id: "a" } },
      { address: "crm.get_record", args: { id: "gone" } },
      { address: "crm.get_recrod" },
      { address: "tickets-eu.list-open" },
    ])`,
    check: resultThat((entries: readonly Record<string, unknown>[]) => {
      expect(entries).toEqual([
        { address: "crm.get_record", ok: true, data: { id: "a", name: "Record a", amount: 137 } },
        {
          address: "crm.get_record",
          ok: false,
          error: {
            code: "not_found",
            message: "No such record.",
            retryable: false,
            address: "crm.get_record",
          },
        },
        {
          address: "crm.get_recrod",
          ok: false,
          error: expect.objectContaining({ code: "unknown_tool", retryable: false }),
        },
        { address: "tickets-eu.list-open", ok: true, data: "list-open" },
      ]);
    }),
  },
  {
    clauses: ["A1", "E2"],
    title: "arguments that a function of connecta does not take are invalid_args",
    inputs: Object.fromEntries(
      [
        "connecta.call()",
        "connecta.call(7)",
        'connecta.call("crm.echo", {}, { timeoutMs: 1 })',
        'connecta.call("crm.echo", [1])',
        'connecta.call("crm.echo", "text")',
        "crm.echo({}, {})",
        "connecta.batch()",
        'connecta.batch({ address: "crm.echo" })',
        'connecta.batch(["crm.echo"])',
        'connecta.batch([{ address: "crm.echo", arguments: {} }])',
        "connecta.search('records')",
        "connecta.describe('crm.echo')",
      ].map((call) => [
        call,
        { code: `return ${call}`, check: fails({ code: "invalid_args", retryable: false }) },
      ]),
    ),
  },
];

/** Shortcut globals. */
const SHORTCUTS: readonly Case[] = [
  {
    clauses: ["A2"],
    title: "a shortcut replaces other characters by _, and keeps letters, digits, _ and $",
    code: `return [await tickets_eu.list_open(), await odd.with_space(), await odd.dot_ted(),
      await odd.na_ve(), await odd.__(), await odd.$money()]`,
    check: answers(["list-open", "with space", "dot.ted", "na\u00efve", "\u65e5\u672c", "$money"]),
  },
  {
    clauses: ["A2"],
    title: "a leading digit gains _ before it, a reserved word gains _ behind it",
    code: "return [await odd._2fa(), await odd.delete_(), await new_.status()]",
    check: answers(["2fa", "delete", "status"]),
  },
  {
    clauses: ["A2"],
    title: "tools named as what every object inherits are reached by their shortcut",
    code: `return [await odd.__proto__(), await odd.constructor(), await odd.prototype(), await odd.toString(),
      await odd.valueOf(), await odd.hasOwnProperty()]`,
    check: answers([
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "valueOf",
      "hasOwnProperty",
    ]),
  },
  {
    clauses: ["A2"],
    title: "awaiting, printing or serializing a connector calls none of its tools",
    code: `const awaited = await odd;
      return [awaited === odd, typeof JSON.stringify(odd), typeof odd, odd instanceof Promise]`,
    check: answers([true, "string", "object", false]),
  },
  {
    clauses: ["A2", "E3"],
    title: "a shortcut to no tool fails as its address does, with what was probably meant",
    code: "return crm.get_recrod({ id: 'a' })",
    check: fails({
      code: "unknown_tool",
      address: "crm.get_recrod",
      suggestions: expect.arrayContaining(["crm.get_record"]),
      nextAction: { function: "connecta.search", arguments: expect.anything() },
    }),
  },
  {
    clauses: ["A2"],
    title: "a catalog is loaded when a program touches its connector, and once",
    deployment: "calm",
    script: async (gateway) => {
      const loads = async () => (await seen(gateway, "none")).loads;
      answers("Record a")(
        await gateway.run("return [typeof shy, (await crm.get_record({ id: 'a' })).name][1]"),
      );
      expect(await loads()).toBe(0);
      answers("hello")(await gateway.run("return shy.hello()"));
      answers("hello")(await gateway.run('return connecta.call("shy.hello")'));
      expect(await loads()).toBe(1);
    },
  },
  {
    clauses: ["A3"],
    title: "a shortcut that two tools share fails closed, naming both addresses",
    inputs: each({
      uncaught: [
        "return odd.a_b()",
        fails({
          code: "ambiguous_tool_alias",
          retryable: false,
          addresses: ["odd.a-b", "odd.a_b"],
        }),
      ],
      "caught, either address still works": [
        `const codes = await odd.a_b().catch((e) => e.addresses);
        const called = [];
        for (const address of codes) called.push(await connecta.call(address));
        return called`,
        answers(["a-b", "a_b"]),
      ],
    }),
  },
];

const NO_EXECUTOR: Executor = { execute: () => Promise.resolve({ result: undefined }) };

function refusal(ids: readonly string[]): string {
  const connectors: Connector[] = ids.map((id) => api({ id, tools: {} }));
  try {
    createConnecta({ connectors, executor: NO_EXECUTOR });
    return "accepted";
  } catch (error) {
    return String(error);
  }
}

/** What a deployment may not be called. */
const CONSTRUCTION: readonly Case[] = [
  {
    clauses: ["A4"],
    title: "connector ids that become one shortcut refuse construction, naming both",
    script: () => {
      expect(refusal(["tickets-eu", "tickets_eu"])).toMatch(/tickets_eu and tickets-eu/);
      expect(refusal(["new", "new_"])).toMatch(/new_ and new/);
      expect(refusal(["crm", "crm"])).toMatch(/crm/);
      expect(refusal(["crm", "tickets-eu"])).toBe("accepted");
    },
  },
  {
    clauses: ["A4"],
    title: "a connector id that lands on a reserved global refuses construction",
    script: () => {
      for (const id of ["connecta", "console", "JSON", "Promise", "globalThis", "undefined"]) {
        expect(refusal([id])).toContain(id);
        expect(refusal([id])).toContain("rename");
      }
      expect(refusal(["json"])).toBe("accepted");
    },
  },
];

/** How programs reach tools. */
export const addressing: readonly Case[] = [...CANONICAL, ...SHORTCUTS, ...CONSTRUCTION];
