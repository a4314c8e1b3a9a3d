import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ReadReply } from "../../../shell/src/messages.ts";
import { startShell } from "../../../shell/src/shell.ts";
import type { CallAnswer } from "../../support/gateway.ts";
import { fakeHost, sendFrom, type FakeHost } from "../support/host.ts";
import { answerOf, argsOf, HOSTILE, NAMES } from "./results.ts";

/*
 * Reads through the whole shell, from the port of a view to the host and back, with answers as the
 * real `call_tool` gives them.
 */
let host: FakeHost;
beforeEach(() => {
  document.head.replaceChildren();
  document.body.replaceChildren();
  host = fakeHost();
  startShell(host.window);
});
afterEach(() => host.close());

const turn = () => new Promise((resolve) => setTimeout(resolve));
const frame = () => document.querySelector("iframe");

interface View {
  readonly replies: readonly ReadReply[];
  /** Asks as the document of the view does. */
  read(name: string, args?: unknown): Promise<void>;
}

/** Shows a result in a host, and takes hold of its document's end of the port. */
async function open(result: CallAnswer, hostCapabilities: object = { serverTools: {} }) {
  await turn();
  const hostInfo = { name: "host", version: "1" };
  const greeting = { protocolVersion: "2026-01-26", hostInfo, hostCapabilities, hostContext: {} };
  host.answer("ui/initialize", { result: greeting });
  await turn();
  host.notify("ui/notifications/tool-result", result);
  await turn();
  const render = /"render":"([^"]+)"/.exec(frame()?.getAttribute("srcdoc") ?? "")?.[1];
  const replies: ReadReply[] = [];
  const port = {
    onmessage: undefined as ((event: object) => void) | undefined,
    postMessage: (reply: ReadReply) => void replies.push(structuredClone(reply)),
  };
  sendFrom(frame()?.contentWindow, { type: "connecta/port", render }, [
    port as unknown as MessagePort,
  ]);
  let id = 0;
  const view: View = {
    replies,
    async read(name, args) {
      port.onmessage?.({ data: { id: ++id, name, args } });
      await turn();
    },
  };
  return view;
}

/** What the host was asked to call; the progress token beside it is the SDK's own. */
const calls = () =>
  host.of("tools/call").map(({ params }) => {
    const { _meta, ...call } = params as Record<string, unknown>;
    return call;
  });

const LIVE = "a view with reads";

/** The recorded view, with one read of what was asked in a recorded call. */
function viewReading(name: string): CallAnswer {
  const { address, args = {} } = argsOf(name);
  const reads = { it: { address, fixedArgs: args } };
  const answer = answerOf(LIVE);
  return { ...answer, _meta: { "connecta/ui": { html: "<p>", reads } } };
}

const error = (code: string, message: string, retryable = false) => ({
  ok: false,
  error: { code, message, retryable },
});
const value = (given: unknown) => ({ ok: true, value: given });

/** How a read settles that the server answered as recorded. */
const SETTLED: Readonly<Record<string, object>> = {
  "value: an object": value({ items: [{ id: 5, title: "Printer on fire" }], nextCursor: 5 }),
  "value: null": value(null),
  "value: hostile text": value(HOSTILE),
  "value: structure of an MCP server": value({ unread: 2 }),
  "value: JSON text of an MCP server": value(["in", "out"]),
  "value: a block that is no text": value({
    content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
  }),
  "value: truncated": error(
    "result_too_large",
    "The answer is too large for a view: ask for less, or for a page of it.",
  ),
  "value: refused, as it writes": error(
    "destructive_tool_requires_approval",
    "it is not marked read-only: it runs only through call_destructive_tool, as one visible call that a person can refuse.",
  ),
  "value: refused, as there is no such tool": error(
    "unknown_tool",
    'Connector tickets has no tool "lst". Did you mean tickets.list?',
  ),
  "value: refused, as there is no such connector": error(
    "unknown_address",
    'No connector has the address "it".',
  ),
  "value: refused, for its arguments": error(
    "invalid_args",
    "it refuses its arguments: cursor: expected integer.",
  ),
  "value: failed with hostile text": error("not_found", `No ticket ${HOSTILE}.`),
  "value: failed, too often": error("rate_limited", "Not so fast.", true),
  "value: failed, signed out": error("auth_required", "Sign in first."),
  "value: failed at the MCP server": error("connector_call_failed", "The mailbox is full."),
  "value: failed, too late": error("timeout", "it did not answer within 20 ms.", true),
};

describe("V5, V10, V11: a read settles as the recorded answer says", () => {
  test("each of which stands here", () => {
    expect(Object.keys(SETTLED)).toEqual(NAMES.filter((name) => name.startsWith("value")));
  });

  test.each(Object.entries(SETTLED))("%s", async (name, settled) => {
    const view = await open(viewReading(name));
    await view.read("it");
    const { address, args = {} } = argsOf(name);
    expect(calls()).toEqual([
      { name: "call_tool", arguments: { address, args, resultMode: "value" } },
    ]);
    expect(view.replies).toEqual([]);
    host.answer("tools/call", { result: answerOf(name) });
    await turn();
    expect(view.replies).toEqual([{ id: 1, ...settled }]);
  });

  test.each(Object.entries(SETTLED))("%s, from its text alone", async (name, settled) => {
    const view = await open(viewReading(name));
    await view.read("it");
    const { content, isError = false } = answerOf(name);
    host.answer("tools/call", { result: { content, isError } });
    await turn();
    expect(view.replies).toEqual([{ id: 1, ...settled }]);
  });

  test("and the view stays as it is, whatever the answer", async () => {
    const view = await open(viewReading("value: hostile text"));
    await view.read("it");
    const before = document.documentElement.outerHTML;
    host.answer("tools/call", { result: answerOf("value: hostile text") });
    await turn();
    expect(view.replies).toEqual([{ id: 1, ...value(HOSTILE) }]);
    expect(document.documentElement.outerHTML).toBe(before);
  });
});

describe("V5: of the seven tools the shell names one", () => {
  test("whatever a view asks for, and with the merged arguments as the server was asked", async () => {
    const view = await open(answerOf(LIVE));
    await view.read("page", { cursor: 4 });
    for (const name of ["execute_code", "call_destructive_tool", "tools/call", "tickets.close"]) {
      await view.read(name, { address: "tickets.close", code: "return 1" });
    }
    expect(calls()).toEqual([{ name: "call_tool", arguments: argsOf("value: an object") }]);
    expect(view.replies.map((reply) => reply.ok || reply.error.code)).toEqual(
      Array(4).fill("unknown_read"),
    );
  });

  test("and an answer that was truncated is fetched by no second call", async () => {
    const view = await open(viewReading("value: truncated"));
    await view.read("it");
    host.answer("tools/call", { result: answerOf("value: truncated") });
    await turn();
    expect(host.of("tools/call")).toHaveLength(1);
    expect(JSON.stringify(view.replies)).not.toContain("xxx");
  });
});

describe("V8: a host that runs no tools for views", () => {
  test("still shows the view, and its reads fail here, without a word to the host", async () => {
    const view = await open(answerOf(LIVE), {});
    const sent = host.received.length;
    await view.read("page", { cursor: 4 });
    expect(view.replies).toMatchObject([{ ok: false, error: { code: "reads_unavailable" } }]);
    expect(host.received).toHaveLength(sent);
    expect(frame()?.getAttribute("srcdoc")?.endsWith("<h1>Live tickets</h1>")).toBe(true);
  });

  test("what a read brings back reaches nobody but the view", async () => {
    const view = await open(answerOf(LIVE));
    await view.read("page", { cursor: 4 });
    const sent = host.received.length;
    host.answer("tools/call", { result: answerOf("value: an object") });
    await turn();
    expect(view.replies).toMatchObject([{ ok: true }]);
    expect(host.received).toHaveLength(sent);
  });
});
