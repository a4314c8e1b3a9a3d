import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { host, report, sharedPool } from "./support.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const pool = sharedPool();

/** Each makes the promise it gets lie about what it is, or throw when it is asked. */
const DOORS: [name: string, body: string][] = [
  [
    "hasInstance",
    `Object.defineProperty(Promise, Symbol.hasInstance, { value: () => false });
     Object.prototype.toJSON = () => "forged";
     promise.then = (resolve) => resolve("forged");`,
  ],
  [
    "species",
    `Object.defineProperty(Promise, Symbol.species, { get() { throw new SyntaxError("forged") } });`,
  ],
  [
    "the constructor of all promises",
    `Object.defineProperty(Promise.prototype, "constructor",
       { get() { throw new SyntaxError("forged") } });`,
  ],
  [
    "a constructor of its own",
    `Object.defineProperty(promise, "constructor",
       { configurable: true, get() { throw new SyntaxError("forged") } });`,
  ],
  [
    "a prototype of its own",
    `Object.setPrototypeOf(promise, { get constructor() { throw new SyntaxError("forged") },
       get then() { throw new SyntaxError("forged") }, toJSON: () => "forged" });`,
  ],
  ["a then of its own", `promise.then = (resolve) => resolve("forged");`],
  ["the then of all promises", `Promise.prototype.then = (resolve) => resolve("forged");`],
];

/** What a follower that trusts the program makes of the same promise. */
function trusting(body: string): unknown {
  return runInNewContext(`(() => {
    const { then } = Promise.prototype;
    const promise = new Promise(() => {});
    try { ${body} } catch {}
    const seen = [];
    try {
      if (!(promise instanceof Promise)) seen.push(JSON.stringify(promise));
      then.call(promise, () => {});
      promise.then((value) => seen.push(JSON.stringify(value)));
    } catch (error) { seen.push(error.name + ": " + error.message) }
    return seen.join();
  })()`);
}

describe("P4: the promise that a program returns", () => {
  it.each(DOORS)("is followed whatever it says through %s", async (_, body) => {
    const code = `() => {
      const promise = (async () => { await null; return "the value" })();
      try { ${body} } catch {}
      return promise;
    }`;
    expect(await report(pool, code)).toMatchObject({ result: "the value", failures: [] });
  });

  it.each(DOORS)("would fool a follower that asks %s: the control", (_, body) => {
    expect(trusting(body)).toContain("forged");
  });

  it("that cannot be changed any more and throws when asked is the program's own error", async () => {
    const code = `() => Object.freeze(Object.defineProperty(Promise.resolve(1), "constructor",
      { get() { throw new SyntaxError("of the program") } }))`;
    expect(await report(pool, code)).toMatchObject({
      error: "SyntaxError: of the program",
      failures: [],
    });
  });

  it("is no promise when it only looks like one", async () => {
    const looks = "() => Object.create(Promise.prototype)";
    expect((await report(pool, looks)).error).toMatch(/^TypeError: /);
    const proxy = "() => new Proxy(Promise.resolve(1), {})";
    expect((await report(pool, proxy)).error).toMatch(/^TypeError: /);
    expect((await report(pool, "() => ({ then: (resolve) => resolve(7) })")).result).toBe(7);
  });

  it("is followed although every object has a getter by inheritance", async () => {
    const code = `() => {
      const promise = Promise.resolve("the value");
      Object.prototype.get = Object.prototype.set = () => { throw new SyntaxError("forged") };
      return promise;
    }`;
    expect(await report(pool, code)).toMatchObject({ result: "the value", failures: [] });
  });

  it("can be of a class of the program, which keeps its species and its instances", async () => {
    const code = `async () => {
      class Own extends Promise {}
      class Wrong extends Error { static [Symbol.hasInstance]() { return "custom" } }
      const own = Own.resolve(1).then((n) => n + 1);
      return [own instanceof Own, own instanceof Promise, {} instanceof Promise, await own,
        new Wrong() instanceof Error, {} instanceof Wrong];
    }`;
    expect((await report(pool, code)).result).toEqual([true, true, false, 2, true, true]);
  });
});

describe("E5: a forged syntax error", () => {
  it.each([
    ["thrown before the function is there", "throw new SyntaxError('forged'); async () => 1"],
    ["thrown by the program", "async () => { throw new SyntaxError('forged') }"],
    [
      "with a position",
      `throw Object.assign(new SyntaxError('forged'),
        { fileName: 'program.js', lineNumber: 1, columnNumber: 2 })`,
    ],
    ["of code that the program compiles", "(0, eval)('let x = ;'); async () => 1"],
    ["in a getter of the result", "async () => ({ get a() { throw new SyntaxError('forged') } })"],
  ])("%s is the program's own error", async (_, code) => {
    const { error, failures } = await report(pool, code);
    expect(failures).toEqual([]);
    expect(error).toMatch(/^SyntaxError: /);
  });

  it("looks the same as a real one in its text: the control", async () => {
    const { error, failures } = await report(pool, "async () => 1 2");
    expect(error).toMatch(/^SyntaxError: /);
    expect(failures).toMatchObject([{ code: "invalid_program", line: 1 }]);
  });
});

const RECURSE = "(function deeper() { return deeper() + 1 })()";
const REAL = `(() => { try { ${RECURSE} } catch (real) { return real } })()`;

describe("E5: a forged limit", () => {
  it.each([
    [
      "an error of the name",
      "Object.assign(new Error('out of memory'), { name: 'InternalError' })",
    ],
    ["a class of the name", "new (class InternalError extends Error {})('stack overflow')"],
    ["the constructor of a real one", `new (${REAL}).constructor("stack overflow")`],
    [
      "the prototype of a real one",
      `Object.setPrototypeOf(new Error("out of memory"), Object.getPrototypeOf(${REAL}))`,
    ],
    ["the message of a real one", `Object.assign(${REAL}, { message: "out of memory" })`],
  ])("made of %s is the program's own error", async (_, expression) => {
    const { error, failures } = await report(pool, `async () => { throw ${expression} }`);
    expect(failures).toEqual([]);
    expect(error).toMatch(/(out of memory|stack overflow)$/);
  });

  it("of memory is not even possible for a prelude, which may keep the constructor", async () => {
    const providers = host({}, "const Internal = InternalError;");
    const code = (message: string) => `async () => { throw new Internal("${message}") }`;
    const memory = await report(pool, code("out of memory"), providers);
    expect([memory.failures, memory.error]).toEqual([[], "InternalError: out of memory"]);
    const control = await report(pool, code("stack overflow"), providers);
    expect(control.failures).toMatchObject([{ code: "executor_limit", limit: "stack" }]);
  });
});
