import { describe, expect, test } from "vitest";
import type { Manifest } from "../../server/view/protocol.ts";
import { serveReads, type CallTool } from "../../shell/src/bridge.ts";
import { readFailure } from "../../shell/src/failures.ts";
import type { ReadReply } from "../../shell/src/messages.ts";
import type { ReadOutcome } from "../../shell/src/unwrap.ts";

const READS: Manifest = {
  page: { address: "git.log", fixedArgs: { branch: "main" }, viewArgs: ["cursor"] },
  plain: { address: "system.load" },
};

/** A port whose other end is this test. */
function fakePort() {
  const replies: ReadReply[] = [];
  let open = true;
  const port: { onmessage: ((event: { data: unknown }) => void) | null } & Record<string, unknown> =
    {
      onmessage: null,
      postMessage: (message: ReadReply) => void replies.push(structuredClone(message)),
      close: () => {
        open = false;
      },
    };
  return {
    port: port as unknown as MessagePort,
    replies,
    ask: (data: unknown) => port.onmessage?.({ data }),
    isOpen: () => open,
  };
}

/** A host that answers when told to. */
function heldCalls() {
  const calls: { address: string; args: unknown; signal: AbortSignal }[] = [];
  const settle: ((outcome: ReadOutcome) => void)[] = [];
  const callTool: CallTool = ({ address, args }, signal) => {
    calls.push({ address, args: { ...args }, signal });
    return new Promise((resolve) => settle.push(resolve));
  };
  return { calls, settle, callTool };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

describe("V4: the bridge of one render", () => {
  test("calls the bound tool and settles the read of the same id", async () => {
    const { port, ask, replies } = fakePort();
    const { calls, settle, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask({ id: 1, name: "page", args: { cursor: "a" } });
    ask({ id: 2, name: "plain" });
    expect(calls).toMatchObject([
      { address: "git.log", args: { branch: "main", cursor: "a" } },
      { address: "system.load", args: {} },
    ]);
    settle[1]?.({ ok: true, value: "second" });
    settle[0]?.({ ok: true, value: "first" });
    await turn();
    expect(replies).toEqual([
      { id: 2, ok: true, value: "second" },
      { id: 1, ok: true, value: "first" },
    ]);
  });

  test.each<[string, unknown, string]>([
    ["an unknown name", { id: 1, name: "none" }, "unknown_read"],
    ["an inherited name", { id: 1, name: "hasOwnProperty" }, "unknown_read"],
    ["an unsafe name", { id: 1, name: "__proto__" }, "unknown_read"],
    ["an address", { id: 1, name: "git.log" }, "unknown_read"],
    ["a name of a megabyte", { id: 1, name: "x".repeat(1_000_000) }, "unknown_read"],
    ["no name", { id: 1 }, "unknown_read"],
    ["a list for a name", { id: 1, name: ["page"] }, "unknown_read"],
    ["an undeclared argument", { id: 1, name: "plain", args: { cursor: 1 } }, "invalid_args"],
    ["a fixed argument", { id: 1, name: "page", args: { branch: "x" } }, "invalid_args"],
    ["arguments that are no object", { id: 1, name: "page", args: [] }, "invalid_args"],
  ])("refuses %s and calls nothing", async (_, data, code) => {
    const { port, ask, replies } = fakePort();
    const { calls, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask(data);
    await turn();
    expect(calls).toEqual([]);
    expect(replies).toMatchObject([{ id: 1, ok: false, error: { code, retryable: false } }]);
  });

  test("V11: tells the author of a view which reads it declared, and no more", async () => {
    const message = async (reads: Manifest) => {
      const { port, ask, replies } = fakePort();
      serveReads(port, reads, heldCalls().callTool);
      ask({ id: 1, name: "pages" });
      await turn();
      const [reply] = replies;
      return reply?.ok === false ? reply.error.message : "it was served";
    };
    expect(await message(READS)).toBe("The view declared no such read; it declared: page, plain.");
    const names = Array.from({ length: 32 }, (_, index) => `${"n".repeat(60)}${index}`);
    const many = Object.fromEntries(names.map((name) => [name, { address: "git.log" }]));
    const long = await message(many);
    expect(long.length).toBeLessThan(270);
    expect(long).toContain("n0, nnn");
    expect(long).not.toContain("git.log");
  });

  test("a value that cannot be handed on fails its read, and the next is served", async () => {
    const { port, ask, replies } = fakePort();
    const { settle, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask({ id: 1, name: "plain" });
    // So deep that it parses but cannot be cloned.
    settle[0]?.({ ok: true, value: JSON.parse("[".repeat(200_000) + "]".repeat(200_000)) });
    await turn();
    expect(replies).toMatchObject([{ id: 1, ok: false, error: { code: "result_too_large" } }]);
    ask({ id: 2, name: "plain" });
    settle[1]?.({ ok: true, value: 2 });
    await turn();
    expect(replies[1]).toEqual({ id: 2, ok: true, value: 2 });
  });

  test.each([
    [null],
    [7],
    ["page"],
    [[]],
    [{}],
    [{ id: "1", name: "page" }],
    [{ id: 1.5, name: "page" }],
    [{ jsonrpc: "2.0", method: "tools/call", params: {} }],
  ])("does not answer %j at all", async (data) => {
    const { port, ask, replies } = fakePort();
    const { calls, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask(data);
    await turn();
    expect([calls, replies]).toEqual([[], []]);
    ask({ id: 1, name: "plain" });
    expect(calls).toHaveLength(1);
  });

  test("runs eight at once, refuses the ninth as retryable, and goes on", async () => {
    const { port, ask, replies } = fakePort();
    const { calls, settle, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    for (let id = 1; id <= 9; id++) ask({ id, name: "plain" });
    await turn();
    expect(calls).toHaveLength(8);
    const error = { code: "too_many_reads", retryable: true };
    expect(replies).toMatchObject([{ id: 9, ok: false, error }]);
    settle[0]?.({ ok: true, value: 1 });
    await turn();
    ask({ id: 10, name: "plain" });
    expect(calls).toHaveLength(9);
  });

  test("an id that is still in flight cannot be used again", () => {
    const { port, ask } = fakePort();
    const { calls, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask({ id: 1, name: "plain" });
    ask({ id: 1, name: "plain" });
    expect(calls).toHaveLength(1);
  });

  test("a failure names the read, never the address", async () => {
    const { port, ask, replies } = fakePort();
    const { settle, callTool } = heldCalls();
    serveReads(port, READS, callTool);
    ask({ id: 1, name: "page" });
    const message = "git.log did not answer; git.log may be down.";
    settle[0]?.({ ok: false, error: { code: "unavailable", message, retryable: true } });
    await turn();
    const error = { message: "page did not answer; page may be down.", retryable: true };
    expect(replies).toMatchObject([{ id: 1, ok: false, error }]);
    expect(JSON.stringify(replies)).not.toContain("git.log");
  });
});

describe("V9: closing the bridge", () => {
  test("rejects what is in flight, aborts the calls and drops their answers", async () => {
    const { port, ask, replies, isOpen } = fakePort();
    const { calls, settle, callTool } = heldCalls();
    const bridge = serveReads(port, READS, callTool);
    ask({ id: 1, name: "plain" });
    bridge.close(readFailure("reads_unavailable", "The view is gone."));
    const error = { code: "reads_unavailable", message: "The view is gone.", retryable: false };
    expect(replies).toEqual([{ id: 1, ok: false, error }]);
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(isOpen()).toBe(false);
    settle[0]?.({ ok: true, value: "late" });
    await turn();
    expect(replies).toHaveLength(1);
  });
});
