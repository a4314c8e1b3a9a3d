import { describe, expect, test } from "vitest";
import {
  answers,
  errorOf,
  eventually,
  fails,
  succeeds,
  type Check,
} from "../suites/executor/case.ts";
import { gateway, send } from "./support.ts";

/** What the executor alone makes of a program, beside what its host function was given. */
async function bare(body: string): Promise<unknown> {
  const request = new Request("http://127.0.0.1/", { method: "POST", body });
  return (await send("bare", request)).json();
}

/** Takes the place of what the run hands back, which is asked for its `then` on the way out. */
const replaced = (answer: string, isLasting = false) => `
  Object.defineProperty(Object.prototype, "then", { configurable: ${!isLasting}, get() {
    if (!("logs" in this && "result" in this)) return undefined;
    ${isLasting ? "" : "delete Object.prototype.then;"}
    const own = this;
    return (resolve, reject) => ${answer};
  } });
  return 1`;

/** Programs after what is behind the bridge, each with what it gets of the executor alone. */
const ATTACKS: Readonly<
  Record<string, { readonly code: string; readonly lands: object; readonly check: Check }>
> = {
  "puts a function of its own where its logs are": {
    code: replaced("resolve({ result: own.result, logs: () => 1 })"),
    lands: { logs: "no list" },
    check: answers(1),
  },
  "hands on more than can be": {
    code: replaced("resolve({ result: own.result, logs: ['x'.repeat(40_000_000)] })"),
    lands: { failed: expect.stringContaining("32MiB") },
    check: answers(1),
  },
  "rejects what was done": {
    code: replaced("reject(new Error('crashed'))"),
    lands: { failed: "Error: crashed" },
    check: answers(1),
  },
  "goes on replacing its answer in every turn that it gets": {
    code: `const replace = () => {
        Object.defineProperty(Object.prototype, "then", { configurable: true, get() {
          return "logs" in this && "result" in this ? (resolve) => resolve({ result: () => 1 }) : undefined;
        } });
      };
      const forever = async () => { for (let i = 0; i < 200; i++) { replace(); await null } };
      void forever().catch(() => {});
      return 1`,
    lands: { result: "a function of the program" },
    check: answers(1),
  },
  "takes hold of what is behind the bridge by a getter of all objects": {
    code: `let stub;
      Object.defineProperty(Object.prototype, "call", { configurable: true, get() { stub ??= this } });
      try { await connecta.call("crm.echo", {}) } catch {}
      delete Object.prototype.call;
      return typeof stub`,
    lands: { result: "function" },
    check: answers("undefined"),
  },
  "rewrites its calls on their way": {
    code: `Array.prototype.toJSON = () => ["rewritten"];
      const answer = await connecta.call("crm.get_record", { id: "a" });
      delete Array.prototype.toJSON;
      return answer.id ?? answer`,
    lands: { result: "host", given: [["rewritten"]] },
    check: answers("a"),
  },
  "reads along what comes back": {
    code: `const { parse } = JSON;
      let read = 0;
      JSON.parse = (...args) => (read++, parse(...args));
      await connecta.call("crm.get_record", { id: "a" });
      JSON.parse = parse;
      return read`,
    lands: { result: 1 },
    check: answers(0),
  },
  "calls another function than it was lent": {
    code: `const text = String;
      globalThis.String = () => "constructor";
      const answer = await connecta.call("crm.get_record", { id: "a" });
      globalThis.String = text;
      return typeof answer === "string" ? answer : answer.id`,
    lands: { result: "crm.get_record", given: [] },
    check: answers("a"),
  },
  "takes hold of the list of what it printed": {
    code: `let list;
      const { push } = Array.prototype;
      Array.prototype.push = function (...lines) { list ??= this; return push.apply(this, lines) };
      console.log("one");
      Array.prototype.push = push;
      list?.push(1, null);
      return typeof list`,
    lands: { result: "object", logs: ["one", 1, null] },
    check: succeeds({ result: "undefined", logs: "one" }),
  },
};

describe("E5: a program that turns on what its sandbox is made of", () => {
  test.each(Object.entries(ATTACKS))("%s", async (_, { code, lands, check }) => {
    expect(await bare(code)).toMatchObject(lands);
    check(await gateway("default").run(code));
  });

  test("that cannot be kept out of its own answer has none until its time is up", async () => {
    const code = replaced("resolve({ error: { code: 'internal' } })", true);
    fails({ code: "executor_timeout" })(await gateway("brief").run(code));
  });

  test.each([
    ["constructor", "Promise.prototype, 'constructor'"],
    ["species", "Promise, Symbol.species"],
  ])("whose promises have a %s that throws is told what it did, and at once", async (_, place) => {
    const code = `Object.defineProperty(${place}, { get() { throw new Error("mine") } });
      return await crm.echo()`;
    const error = errorOf(await gateway("default").run(code));
    expect(error).toMatchObject({
      code: "program_error",
      message: expect.stringContaining("mine"),
    });
  });

  test("that gives all objects what a descriptor would inherit still logs and answers", async () => {
    const code = `console.log("one"); Object.prototype.get = 1; console.log("two"); return 1`;
    succeeds({ result: 1, logs: "one\ntwo" })(await gateway("default").run(code));
  });

  test.each([
    ["throws", "throw new Error('m'.repeat(40_000_000))"],
    ["throws as it is", "throw 'm'.repeat(40_000_000)"],
    ["names an error", "throw Object.assign(new Error(), { name: 'm'.repeat(40_000_000) })"],
  ])("that %s a text which cannot be handed on is told what it did", async (_, code) => {
    fails({ code: "program_error", message: expect.stringContaining("mmm") })(
      await gateway("default").run(code),
    );
  });

  test("that returns nothing for JSON at a path which cannot be handed on is told where", async () => {
    const code = "return { ['k'.repeat(20_000_000)]: 1n }";
    fails({ code: "not_serializable", path: expect.stringContaining("result.kkk") })(
      await gateway("default").run(code),
    );
  });
});

/** Bytes that a deployment counts as under way. */
async function bytesInFlight(): Promise<number> {
  const headers = { host: "127.0.0.1:8787" };
  const response = await send("default", new Request("http://127.0.0.1:8787/health", { headers }));
  return ((await response.json()) as { runs: { bytesInFlight: number } }).runs.bytesInFlight;
}

const LARGE = "const big = 'x'.repeat(4_000_000);";

describe("L4: a flood of large arguments", () => {
  test("ends the run by the budget's name, and leaves the room of all to others", async () => {
    const { run } = gateway("default");
    const code = `${LARGE}
      const calls = Array.from({ length: 100 }, () => crm.echo({ big }).catch(() => "went on"));
      return (await Promise.all(calls)).length`;
    const error = { code: "budget_exceeded", budget: "maxArgumentBytes", maxBytes: 33_554_432 };
    fails(error)(await run(code));
    await eventually(bytesInFlight, (bytes) => bytes === 0);
  });

  test("that its program does not wait for leaves nothing behind when the request is over", async () => {
    const { run } = gateway("default");
    const logs = "[unhandled] not awaited, and dropped: 8 host calls";
    const code = `${LARGE} for (let i = 0; i < 8; i++) crm.echo({ big }).catch(() => {}); return 1`;
    succeeds({ result: 1, logs })(await run(code));
    await eventually(bytesInFlight, (bytes) => bytes === 0);
  });
});

describe("L3, L4: a program that asks its host on and on", () => {
  test("ends at its deadline, whatever it makes of refusals, and others are served meanwhile", async () => {
    const { run } = gateway("brief");
    const asking = run("for (;;) await crm.echo().catch(() => {})");
    const other = gateway("default").run("return (await crm.echo({ a: 1 })).a");
    answers(1)(await other);
    fails({ code: "executor_timeout" })(await asking);
  });

  test("does not go on behind its answer", async () => {
    const { run } = gateway("default");
    const code = `const ask = async () => { for (;;) await crm.echo().catch(() => {}) };
      void ask();
      return 1`;
    const { structuredContent } = await run(code);
    expect(structuredContent).toMatchObject({ result: 1 });
    answers(2)(await run("return 2"));
  });
});
