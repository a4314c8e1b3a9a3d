import type { Frame } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { Stage, type Opened } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.close());

const READS = {
  refresh: { address: "metrics.current", fixedArgs: { service: "api" }, viewArgs: ["cursor"] },
  detail: { address: "incidents.get", viewArgs: ["id"] },
};
const PAGE = `<p id="value">initial</p><button type="button" id="go">Refresh</button><script>
  go.onclick = async () => {
    value.textContent = (await connecta.read("refresh", { cursor: "c1" })).load;
  };
</script>`;

interface Settled {
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
  readonly retryable?: boolean;
}

type Connecta = { read(name: unknown, args?: unknown): Promise<unknown>; reads: string[] };

/** Runs one read in the program's own page and tells how it settled. */
function read(inner: Frame, name: unknown, args?: unknown): Promise<Settled> {
  return inner.evaluate(
    ([chosen, given]) => {
      const { connecta } = window as unknown as { connecta: Connecta };
      return connecta.read(chosen, given).then(
        (value) => ({ value }),
        ({ code, message, retryable }) => ({ code, message, retryable }),
      );
    },
    [name, args] as const,
  );
}

const open = (answer?: Parameters<Stage["open"]>[1], host = {}) =>
  stage.open({ result: results.viewResult(PAGE, READS), ...host }, answer);
const always = (answer: unknown) => () => Promise.resolve(answer);

describe("a read", () => {
  test("reaches call_tool once, in value mode, with the merged arguments, and gives the value", async () => {
    const opened = await open(always(results.valueResult({ load: "42%" })));
    const inner = await opened.inner();
    await inner.click("#go");
    await inner.getByText("42%").waitFor();
    expect(await opened.calls()).toMatchObject([
      {
        name: "call_tool",
        arguments: {
          address: "metrics.current",
          args: { service: "api", cursor: "c1" },
          resultMode: "value",
        },
      },
    ]);
    expect(opened.complaints).toEqual([]);
  });

  test("is known to the program by name alone", async () => {
    const opened = await open();
    const inner = await opened.inner();
    const seen = await inner.evaluate(() => {
      const { connecta } = window as unknown as { connecta: Connecta };
      return {
        keys: Object.keys(connecta),
        reads: connecta.reads,
        page: document.documentElement.outerHTML,
      };
    });
    expect(seen.keys).toEqual(["read", "reads"]);
    expect(seen.reads).toEqual(["refresh", "detail"]);
    expect(seen.page).not.toContain("metrics.current");
    expect(seen.page).not.toContain("incidents.get");
  });

  test("answered out of order settles its own promise", async () => {
    const held = new Map<string, (result: unknown) => void>();
    const opened = await open((_, params) => {
      const { args } = (params as { arguments: { args: { id: string } } }).arguments;
      return new Promise((resolve) => held.set(args.id, resolve));
    });
    const inner = await opened.inner();
    const [first, second] = ["a", "b"].map((id) => read(inner, "detail", { id }));
    await expect.poll(() => held.size).toBe(2);
    held.get("b")?.(results.valueResult("for b"));
    expect(await second).toEqual({ value: "for b" });
    held.get("a")?.(results.valueResult("for a"));
    expect(await first).toEqual({ value: "for a" });
  });

  test("takes undefined for an argument that is not given", async () => {
    const opened = await open(always(results.valueResult(null)));
    const inner = await opened.inner();
    const settled = inner.evaluate(() =>
      (window as unknown as { connecta: Connecta }).connecta.read("refresh", { cursor: undefined }),
    );
    expect(await settled).toBeNull();
    expect(await opened.calls()).toMatchObject([{ arguments: { args: { service: "api" } } }]);
  });
});

describe("a refused read calls nothing", () => {
  const refusals: [string, unknown, unknown, string][] = [
    ["a name that was not declared", "drop_tables", {}, "unknown_read"],
    ["an inherited name", "toString", {}, "unknown_read"],
    ["an address for a name", "metrics.current", {}, "unknown_read"],
    ["a number for a name", 7, {}, "unknown_read"],
    ["an undeclared argument", "detail", { id: 1, admin: true }, "invalid_args"],
    ["a fixed argument overridden", "refresh", { service: "billing" }, "invalid_args"],
    ["a list of arguments", "detail", [1], "invalid_args"],
    ["a string of arguments", "detail", "id=1", "invalid_args"],
    ["an unsafe name inside", "detail", { id: { constructor: 1 } }, "invalid_args"],
    ["arguments of over 64 KiB", "detail", { id: "x".repeat(65_536) }, "invalid_args"],
  ];
  let opened: Opened;
  let inner: Frame;
  let calls = 0;
  beforeAll(async () => {
    opened = await open(always(results.valueResult("landed")));
    inner = await opened.inner();
  });

  /** The control: the same page can do what it declared, and that arrives. */
  async function expectOnlyTheDeclaredReadLands(): Promise<void> {
    expect(await opened.calls()).toHaveLength(calls);
    expect(await read(inner, "detail", { id: 1 })).toEqual({ value: "landed" });
    expect(await opened.calls()).toHaveLength(++calls);
  }

  test.each(refusals)("%s", async (_, name, args, code) => {
    const settled = await read(inner, name, args);
    expect(settled).toEqual({ code, message: expect.stringMatching(/\.$/), retryable: false });
    await expectOnlyTheDeclaredReadLands();
  });

  test.each([
    ["a Map", "new Map([['id', 1]])"],
    ["a Date inside", "({ id: new Date(0) })"],
    ["a BigInt", "({ id: 1n })"],
    ["a NaN", "({ id: NaN })"],
    ["a function", "({ id() {} })"],
    ["a cycle", "(() => { const a = {}; a.id = a; return a; })()"],
    ["a __proto__ of its own", `JSON.parse('{"__proto__": {"id": 1}}')`],
    ["the window", "({ id: window })"],
  ])("%s as arguments", async (_, expression) => {
    const code = await inner.evaluate(
      `connecta.read("detail", ${expression}).then(() => "landed", (error) => error.code)`,
    );
    expect(code).toBe("invalid_args");
    await expectOnlyTheDeclaredReadLands();
  });
});

describe("reads at once", () => {
  test("a ninth is refused, and a tenth served when one of the eight is back", async () => {
    const held: ((result: unknown) => void)[] = [];
    const opened = await open(() => new Promise((resolve) => held.push(resolve)));
    const inner = await opened.inner();
    const eight = Array.from({ length: 8 }, (_, id) => read(inner, "detail", { id }));
    await expect.poll(() => held.length).toBe(8);
    expect(await read(inner, "detail", { id: 8 })).toMatchObject({
      code: "too_many_reads",
      retryable: true,
    });
    held[0]?.(results.valueResult("back"));
    expect(await eight[0]).toEqual({ value: "back" });
    const tenth = read(inner, "detail", { id: 9 });
    await expect.poll(() => held.length).toBe(9);
    for (const resolve of held) resolve(results.valueResult("back"));
    expect(await tenth).toEqual({ value: "back" });
  });

  test("none is served in a host that runs no tools for views", async () => {
    const opened = await open(always(results.valueResult("landed")), { hostCapabilities: {} });
    const inner = await opened.inner();
    expect(await read(inner, "detail", { id: 1 })).toMatchObject({ code: "reads_unavailable" });
    expect(await inner.textContent("#value")).toBe("initial");
    expect(await opened.calls()).toEqual([]);
  });
});

describe("a failed read says why", () => {
  let opened: Opened;
  let inner: Frame;
  let answer: unknown;
  beforeAll(async () => {
    opened = await open(() => Promise.resolve(answer));
    inner = await opened.inner();
  });
  const error = {
    code: "rate_limited",
    message: "incidents.get allows one call a second.",
    retryable: true,
    address: "incidents.get",
  };
  test.each<[string, unknown, Settled]>([
    [
      "a failure of the connector, without its address",
      results.callFailure(error),
      { code: "rate_limited", message: "detail allows one call a second.", retryable: true },
    ],
    [
      "an isError result of plain text",
      { isError: true, content: [{ type: "text", text: "Tool not found" }] },
      { code: "connector_call_failed", message: "Tool not found", retryable: false },
    ],
    [
      "a result of status error",
      { status: "error", error: { message: "declined by the person" } },
      { code: "connector_call_failed", message: "declined by the person", retryable: false },
    ],
    [
      "a truncated answer",
      {
        content: [],
        structuredContent: { ok: true, truncated: true, preview: "[1,2", resultId: "r" },
      },
      { code: "result_too_large", message: expect.stringContaining("too large"), retryable: false },
    ],
    [
      "an answer of another shape",
      { content: [{ type: "text", text: "42" }] },
      { code: "connector_call_failed", message: "42", retryable: false },
    ],
    [
      "an empty answer",
      {},
      {
        code: "connector_call_failed",
        message: expect.stringContaining("without a value"),
        retryable: false,
      },
    ],
  ])("%s", async (_, given, expected) => {
    answer = given;
    expect(await read(inner, "detail", { id: 1 })).toEqual(expected);
    expect(opened.complaints).toEqual([]);
  });

  test("a rejection of the host", async () => {
    const opened = await open(() => Promise.reject(new Error("the person said no")));
    const settled = await read(await opened.inner(), "detail", { id: 1 });
    expect(settled.code).toBe("connector_call_failed");
    expect(settled.message).toContain("the person said no");
  });

  test("a teardown while it waits, and every read after it", async () => {
    const opened = await open(() => new Promise(() => {}));
    const inner = await opened.inner();
    const waiting = read(inner, "detail", { id: 1 });
    await expect.poll(() => opened.calls()).toHaveLength(1);
    await opened.send({ jsonrpc: "2.0", id: 9, method: "ui/resource-teardown", params: {} });
    expect(await waiting).toMatchObject({ code: "reads_unavailable" });
    expect(await read(inner, "detail", { id: 2 })).toMatchObject({ code: "reads_unavailable" });
    expect(await opened.calls()).toHaveLength(1);
  });
});

test("a plain payload has no connecta at all", async () => {
  const opened: Opened = await stage.open({ result: results.viewResult("<p>plain</p>") });
  expect(await (await opened.inner()).evaluate(() => "connecta" in window)).toBe(false);
});
