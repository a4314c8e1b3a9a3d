import { describe, expect, it, vi } from "vitest";
import { gate, host, limitsWith, report, sharedPool } from "./support.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const pool = sharedPool();

describe("P3: results", () => {
  it.each([
    ["1", 1],
    ["null", null],
    ["true", true],
    ["[1, undefined, 'a']", [1, null, "a"]],
    ["({ a: 1, b: undefined, c: new Date(0) })", { a: 1, c: "1970-01-01T00:00:00.000Z" }],
    ["'plain'", "plain"],
    ["''", ""],
    ["'naïve — 😀'", "naïve — 😀"],
    ["'a\\0b'", "a\0b"],
    ["'half \\ud83d a pair'", "half \ud83d a pair"],
    ["JSON.stringify({ a: 1 })", '{"a":1}'],
  ])("%s crosses as it is", async (expression, expected) => {
    expect(await report(pool, `async () => ${expression}`)).toMatchObject({
      result: expected,
      failures: [],
      logs: [],
    });
  });

  it("is undefined for undefined and for what JSON has no word for", async () => {
    for (const code of ["async () => {}", "async () => () => 1", "async () => Symbol('a')"]) {
      const { result, error } = await report(pool, code);
      expect([code, result, error]).toEqual([code, undefined, undefined]);
    }
  });

  it.each([
    ["async () => { throw new TypeError('no good') }", "TypeError: no good"],
    ["async () => { throw 'a string' }", "a string"],
    ["async () => { throw null }", "null"],
    ["async () => { throw { code: 7 } }", "[object Object]"],
    ["async () => { throw { message: 'plain object' } }", "Error: plain object"],
    ["async () => { throw { get message() { throw 1 } } }", /has no text/],
    ["() => missing.value", "ReferenceError: 'missing' is not defined"],
    ["async () => { undeclared = 1 }", "ReferenceError: 'undeclared' is not defined"],
    ["async () => 10n", /^TypeError: .*BigInt/],
    ["async () => { const a = {}; a.a = a; return a }", /^TypeError: circular/],
    ["async () => { throw new SyntaxError('thrown') }", "SyntaxError: thrown"],
    ["async () => new Function('let x = ;')", /^SyntaxError: /],
    ["42", "TypeError: the code is not a function"],
    ["const f = async () => 1;", "TypeError: the code is not a function"],
  ])("%s comes back as an error and is no failure of the run", async (code, error) => {
    const outcome = await report(pool, code);
    expect(outcome.error).toEqual(typeof error === "string" ? error : expect.stringMatching(error));
    expect(outcome.failures).toEqual([]);
  });

  it.each([
    ["async () => {\n  let x = ;\n}", 2, 11, "unexpected token in expression: ';'"],
    ["async () => /(/", 1, 13, "expecting ')'"],
    ["let a = 1; let a = 2; async () => a", 1, undefined, "invalid redefinition"],
    ["async () => '\ud800' 1", 1, 17, ""],
  ])("%j does not compile, and is told with line and column", async (code, line, column, why) => {
    const { error, failures } = await report(pool, code);
    expect(failures).toMatchObject([
      { code: "invalid_program", retryable: false, line, ...(column && { column }) },
    ]);
    expect(error).toBe(failures[0]?.message);
    expect(error).toContain(`SyntaxError: ${why}`);
  });

  it.each([
    "async () => 5",
    "async () => 5;",
    "() => 5",
    "async function main() { return 5 }",
    "function main() { return 5 }",
    "/* a comment */ async () => 5",
    "const five = 5; async () => five",
  ])("%s is called", async (code) => {
    expect((await report(pool, code)).result).toBe(5);
  });

  it("names lines and columns as they stand in the code", async () => {
    const { result } = await report(pool, "async () => new Error('here').stack");
    expect(result).toContain("(program.js:1:22)");
    const second = await report(pool, "async () => {\n  return new Error('here').stack;\n}");
    expect(second.result).toContain("(program.js:2:19)");
  });

  it("reports set-up and CPU time", async () => {
    const { timings } = await report(pool, "async () => 1");
    expect(timings).toEqual({ setupMs: expect.any(Number), cpuMs: expect.any(Number) });
  });
});

describe("X1: host calls", () => {
  it("carry every argument and result that JSON has", async () => {
    const seen: unknown[] = [];
    const providers = host({
      echo: async (...args) => {
        seen.push(args);
        return args.length === 1 ? args[0] : args;
      },
    });
    const values = [[], [1, "a"], [{ deep: [null] }], ["text"], ["nul \0"], ["half \ud83d"], [""]];
    const code = `async () => [
      await host.echo(), await host.echo(1, "a"), await host.echo({ deep: [null] }),
      await host.echo("text"), await host.echo("nul \\0"), await host.echo("half \\ud83d"),
      await host.echo(""),
    ]`;
    const { result } = await report(pool, code, providers);
    expect(seen).toEqual(values);
    expect(result).toEqual([[], [1, "a"], { deep: [null] }, "text", "nul \0", "half \ud83d", ""]);
  });

  it("bring back undefined, and what a synchronous function returns", async () => {
    const now = () => 3 as unknown as Promise<unknown>;
    const providers = host({ nothing: async () => undefined, now });
    const code = "async () => [await host.nothing() === undefined, await host.now()]";
    expect((await report(pool, code, providers)).result).toEqual([true, 3]);
  });

  it("are made in the order of the program and settle in the order of the host", async () => {
    const seen: unknown[] = [];
    const last = gate();
    const providers = host({
      first: async () => {
        seen.push("first called");
        await last.opened;
        return 1;
      },
      second: async () => {
        seen.push("second called");
        return 2;
      },
      seen: async (text) => {
        seen.push(text);
        if (text === "got 2") last.open();
      },
    });
    const code = `async () => {
      const told = (value) => host.seen("got " + value).then(() => value);
      return Promise.all([host.first().then(told), host.second().then(told)]);
    }`;
    expect((await report(pool, code, providers)).result).toEqual([1, 2]);
    expect(seen).toEqual(["first called", "second called", "got 2", "got 1"]);
  });

  it("reject with an Error of the same message", async () => {
    const refuse = () => {
      throw new Error("thrown at once");
    };
    const providers = host({
      reject: async () => {
        throw new RangeError("no way — 😀");
      },
      refuse,
      odd: () => Promise.reject("a string"),
      cyclic: async () => {
        const value: { self?: unknown } = {};
        value.self = value;
        return value;
      },
    });
    const code = `async () => Promise.all(["reject", "refuse", "odd", "cyclic"].map((name) =>
      host[name]().catch((error) => [error instanceof Error, error.name, error.message])))`;
    expect((await report(pool, code, providers)).result).toEqual([
      [true, "Error", "no way — 😀"],
      [true, "Error", "thrown at once"],
      [true, "Error", "a string"],
      [true, "Error", expect.stringContaining("circular")],
    ]);
  });

  it("that reject without being caught end the program with their message", async () => {
    const providers = host({ reject: () => Promise.reject(new Error("down")) });
    const { error, failures } = await report(pool, "async () => host.reject()", providers);
    expect([error, failures]).toEqual(["Error: down", []]);
  });

  it("reject when their arguments are not JSON", async () => {
    const providers = host({ take: async () => 1 });
    const code = "async () => host.take(10n).catch((error) => error.name)";
    expect((await report(pool, code, providers)).result).toBe("TypeError");
  });

  it("are on constant objects that a program cannot change", async () => {
    const providers = host({ one: async () => 1 });
    const code = `async () => {
      const tries = [() => { host.one = 1 }, () => { host.two = 1 }, () => { host = 1 },
        () => { delete globalThis.host }, () => { globalThis.host = 1 }];
      const refused = tries.filter((attempt) => { try { attempt() } catch { return true } });
      return [refused.length, Object.keys(host), await host.one()];
    }`;
    expect((await report(pool, code, providers)).result).toEqual([5, ["one"], 1]);
  });
});

describe("X1: preludes", () => {
  it("are global scripts whose names the program and later preludes see", async () => {
    const providers = [
      ...host({ add: async (...[a, b]) => Number(a) + Number(b) }, "const add = host.add;"),
      { name: "more", fns: {}, prelude: "let twice = (n) => add(n, n); class Point {}" },
    ];
    const code = "async () => [await twice(4), typeof Point, Object.keys(more)]";
    expect((await report(pool, code, providers)).result).toEqual([8, "function", []]);
  });

  it("that fail end every run of their setup with the reason", async () => {
    const providers = host({}, "throw new TypeError('broken prelude')");
    const { error, failures } = await report(pool, "async () => 1", providers);
    expect(error).toBe("A prelude does not work: TypeError: broken prelude");
    expect(failures).toEqual([expect.objectContaining({ code: "internal", message: error })]);
  });

  it("cannot make host calls, whose run does not exist yet", async () => {
    const seen: string[] = [];
    const called = async () => {
      seen.push("called");
    };
    const prelude = "let why; host.called().catch((error) => { why = error.message });";
    const { result } = await report(pool, "async () => why", host({ called }, prelude));
    expect(result).toMatch(/^A prelude cannot make host calls/);
    expect(seen).toEqual([]);
  });
});

describe("L4: a prelude's reader of answers", () => {
  const read = `host[Symbol.for("sandbox.decode")]((text) => JSON.parse(text).rows);`;
  const rows = JSON.stringify({ rows: Array.from({ length: 200_000 }, (_, id) => ({ id })) });
  const code = `async () => (await host.rows()).length`;

  it("turns text into what the program gets, and costs it no CPU time", async () => {
    const limits = limitsWith({ cpuMs: 40 });
    const providers = host({ rows: async () => rows }, read);
    const { result, failures } = await report(pool, code, providers, { limits });
    expect(failures).toEqual([]);
    expect(result).toBe(200_000);
  });

  it("is what makes it cost nothing: the control, in which the program reads", async () => {
    const limits = limitsWith({ cpuMs: 40 });
    const own = code.replaceAll("await host.rows()", "JSON.parse(await host.rows()).rows");
    const providers = host({ rows: async () => rows });
    const { failures } = await report(pool, own, providers, { limits });
    expect(failures).toMatchObject([{ code: "executor_limit", limit: "cpu" }]);
  });

  it("rejects the call when it throws, and cannot be replaced by a program", async () => {
    const providers = host({ rows: async () => "no JSON" }, read);
    const cheat = `async () => {
      host[Symbol.for("sandbox.decode")](() => "mine");
      return host.rows().catch((error) => error.name) }`;
    expect((await report(pool, cheat, providers)).result).toBe("SyntaxError");
  });
});

describe("R3: logs", () => {
  const code = `async () => {
    console.log("a", 1, null, undefined, [1, 2], { a: 1 }, Symbol("s"));
    console.info("b\\0\\ud83d"); console.warn(); console.error("d"); console.debug("e");
    console.log(Object.create(null));`;
  const lines = [
    "a 1 null undefined 1,2 [object Object] Symbol(s)",
    "b\0\ud83d",
    "",
    "d",
    "e",
    "[value without text]",
  ];

  it("are kept in order, one string for each line", async () => {
    expect((await report(pool, `${code} }`)).logs).toEqual(lines);
  });

  it("are kept when the program throws, is ended or dies with its process", async () => {
    const thrown = await report(pool, `${code} throw new Error("x") }`);
    const ended = await report(pool, `${code} for (;;); }`);
    const stuck = await report(
      pool,
      `${code} Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) }`,
    );
    expect(thrown.logs).toEqual(lines);
    expect(ended.logs).toEqual(lines);
    expect(stuck.logs).toEqual(lines);
  });

  it("hold 16,000 characters and drop what comes after", async () => {
    const { logs } = await report(
      pool,
      "async () => { for (let i = 0; i < 5000; i++) console.log('0123456789'.repeat(10)) }",
    );
    const characters = logs?.join("").length ?? 0;
    expect(characters).toBeLessThanOrEqual(16_000);
    expect(characters).toBeGreaterThan(15_000);
  });
});
