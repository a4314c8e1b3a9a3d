import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../server/node/index.ts";
import { SourceThread } from "../../server/node/source-thread.ts";
import { readProgram } from "../../server/programs/source.ts";
import type { Executor } from "../../server/shared/contracts.ts";
import { callTool } from "../support/gateway.ts";

/** A caller who stays. */
const stays = () => new AbortController().signal;

/** The program of a thread that does something else than reading. */
const entry = (program: string) => new URL(`data:text/javascript,${encodeURIComponent(program)}`);
const MUTE = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});`;

function thread(options: ConstructorParameters<typeof SourceThread>[0] = {}): SourceThread {
  const started = new SourceThread(options);
  onTestFinished(() => started.close());
  return started;
}

const filler = (count: number) => "  const a = [1, 'two', (x) => x + 3];\n".repeat(count);

describe("reading in a thread", () => {
  test.each([
    ["a small program", "async () => 7"],
    ["a large program", `async () => {\n${filler(20_000)}  return 1;\n}`],
    ["a large bare body", `${filler(5_000)}return await 1;`],
    ["a fence", "```js\nasync () => 7\n```"],
    ["export default", "export default async () => 7;"],
    ["odd characters", "async () => '\u2028\ud800\0é😀'"],
    ["a late syntax error", `async () => {\n${filler(5_000)}  let 1x;\n}`],
    ["TypeScript", "async (a: string) => a"],
    ["no program", "1 + 1"],
    ["nothing", ""],
    ["an import", "import a from 'a'; return a"],
    ["an HTML comment", "let a = 1;\n0 <!--a\nreturn a"],
    ["nesting beyond any stack", "(".repeat(100_000)],
  ])("says of %s what reading in place says", async (_, code) => {
    const read = await thread().read(code, stays());
    const inPlace = readProgram(code);
    // Two stacks never end at exactly the same depth.
    const place = { message: expect.any(String), column: expect.any(Number) };
    const excerpt = { excerpt: expect.any(String) };
    const told = code.startsWith("((") && !inPlace.ok;
    expect(read).toEqual(
      told ? { ok: false, failure: { ...inPlace.failure, ...place, ...excerpt } } : inPlace,
    );
  });

  test("takes many at once, one after the other", async () => {
    const reader = thread();
    const codes = Array.from({ length: 20 }, (_, index) => `async () => ${index}`);
    const read = await Promise.all(codes.map((code) => reader.read(code, stays())));
    expect(read).toEqual(codes.map((code) => readProgram(code)));
  });

  test("starts with the first program, and ends when there has been none for a while", async () => {
    const reader = thread({ idleMs: 1 });
    expect(reader.alive).toBe(false);
    await reader.read("async () => 1", stays());
    expect(reader.alive).toBe(true);
    await expect.poll(() => reader.alive).toBe(false);
    expect(await reader.read("async () => 2", stays())).toMatchObject({ ok: true });
  });
});

describe("a thread that does not answer", () => {
  test("is ended at the deadline, and the next program gets another", async () => {
    const reader = thread({ entry: entry(MUTE), timeoutMs: 50 });
    const [first, second] = [reader.read("return 1", stays()), reader.read("return 2", stays())];
    expect(await first).toMatchObject({ failure: { code: "executor_timeout", timeoutMs: 50 } });
    expect(await second).toMatchObject({ failure: { code: "executor_timeout" } });
  });

  test.each([
    ["ends itself", `process.exit(3)`],
    ["throws", `throw new Error("broken")`],
    ["does not exist", undefined],
  ])("because it %s fails that program as data", async (_, program) => {
    const missing = new URL("missing.js", import.meta.url);
    const reader = thread({ entry: program === undefined ? missing : entry(program) });
    expect(await reader.read("return 1", stays())).toMatchObject({
      ok: false,
      failure: { code: "executor_crashed" },
    });
    expect(reader.alive).toBe(false);
  });

  test("because it holds too much fails that program, and the server goes on", async () => {
    const reader = thread({ heapMb: 8 });
    const code = `async () => [${"1,".repeat(500_000)}]`;
    expect(await reader.read(code, stays())).toMatchObject({
      failure: { code: "executor_crashed" },
    });
    expect(readProgram(code).ok).toBe(true);
  });
});

describe("leaving and closing", () => {
  test("L3: a program that waits for its turn leaves with its caller", async () => {
    const reader = thread({ entry: entry(MUTE) });
    const controller = new AbortController();
    const first = reader.read("return 1", stays());
    const second = reader.read("return 2", controller.signal);
    controller.abort();
    expect(await second).toMatchObject({ failure: { code: "executor_cancelled" } });
    await reader.close();
    await first;
  });

  test("closing ends the thread, who is read and who waits", async () => {
    const reader = thread({ entry: entry(MUTE) });
    const all = [reader.read("return 1", stays()), reader.read("return 2", stays())];
    await reader.close();
    for (const one of [...all, reader.read("return 3", stays())]) {
      expect(await one).toMatchObject({ failure: { code: "executor_closed" } });
    }
    expect(reader.alive).toBe(false);
  });
});

test("a deployment on Node reads large programs so, and closes the thread with itself", async () => {
  const read = vi.spyOn(SourceThread.prototype, "read");
  const close = vi.spyOn(SourceThread.prototype, "close");
  const executor: Executor = { execute: async () => ({ result: '{"ok":true,"value":7}' }) };
  const server = await listen({ connectors: [], executor }, { port: 0 });
  if (!server.ok) throw new Error(server.failure.message);
  const overHttp = {
    fetch: async (request: Request) =>
      fetch(`${server.value.url}/mcp`, {
        method: "POST",
        headers: request.headers,
        body: await request.text(),
      }),
  };
  const run = async (code: string) =>
    (await callTool(overHttp, "execute_code", { code })).structuredContent;
  try {
    expect(await run("return 7")).toEqual({ result: 7 });
    expect(read).not.toHaveBeenCalled();
    expect(await run(`async () => {\n${filler(1_000)}  return 7;\n}`)).toEqual({ result: 7 });
    expect(read).toHaveBeenCalledOnce();
    expect(await run(`async () => {\n${filler(1_000)}  let 1x;\n}`)).toMatchObject({
      error: { code: "invalid_program", line: 1_002 },
    });
    expect(close).not.toHaveBeenCalled();
  } finally {
    await server.value.close();
  }
  expect(close).toHaveBeenCalledOnce();
});
