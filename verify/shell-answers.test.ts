import type { Frame } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { heard, mustSee, windClock } from "./shell/sight.ts";
import { Stage, type Opened } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const READS = {
  refresh: { address: "metrics.current", fixedArgs: { service: "api" }, viewArgs: ["cursor"] },
  detail: { address: "incidents.get", viewArgs: ["id"] },
};
/** A view that shows what became of its read, as the guide for authors has it. */
const PAGE = `<p id="out">nothing yet</p><script>
  function load(name, args) {
    return connecta.read(name, args).then(
      (value) => { out.textContent = "value: " + JSON.stringify(value); },
      (error) => {
        const hint = error.retryable ? " Try again." : "";
        out.textContent = error instanceof Error ? error.code + ": " + error.message + hint : "no Error";
      },
    );
  }
</script>`;
const view = results.viewResult(PAGE, READS);
const never = () => new Promise(() => {});

/** Has the program load something, and gives what the person then reads. */
async function shown(inner: Frame, name = "detail", args = `{ id: 1 }`): Promise<string | null> {
  await inner.evaluate(`load(${JSON.stringify(name)}, ${args})`);
  return inner.textContent("#out");
}

/** Answers the view's latest call with a message of any shape. */
async function answerByHand(opened: Opened, body: object): Promise<void> {
  const passed = await opened.passed();
  const call = passed.findLast(({ message }) => message.method === "tools/call");
  await opened.send({ jsonrpc: "2.0", id: call?.message.id, ...body });
}

describe("V11 an answer of the host in any shape is a value or a reason that a person can read", () => {
  const failed = (message: string) => `connector_call_failed: ${message}`;
  const NO_VALUE = failed("The read came back without a value.");
  const REFUSED = failed("The host refused the read.");
  const text = (words: string) => [{ type: "text", text: words }];
  test.each<[string, object, string | RegExp]>([
    ["a value", { result: results.valueResult({ rows: 3 }) }, `value: {"rows":3}`],
    ["a value in text alone", { result: { content: text(`{"ok":true,"data":7}`) } }, "value: 7"],
    ["a value that is null", { result: results.valueResult(null) }, "value: null"],
    ["a rejection in text", { error: "declined" }, /^connector_call_failed: .*declined$/],
    ["a rejection with a code", { error: { code: -32000, message: "declined" } }, /declined$/],
    [
      "a rejection with a code in text",
      { error: { code: "NO", message: "declined" } },
      /declined$/,
    ],
    [
      "a connection that is lost",
      { error: { code: -32000, message: "Connection closed" } },
      /^connector_call_failed: .*Connection closed$/,
    ],
    ["a rejection without words", { error: {} }, REFUSED],
    ["neither a result nor an error", {}, REFUSED],
    ["a refusal by the person", { error: { code: -32001, message: "User said no" } }, /said no$/],
    [
      "a method that the host does not have",
      { error: { code: -32601, message: "Method not found" } },
      "reads_unavailable: This host runs no reads for views.",
    ],
    ["a result that is null", { result: null }, NO_VALUE],
    ["a result that is text", { result: "rows" }, NO_VALUE],
    ["isError and nothing else", { result: { isError: true } }, NO_VALUE],
    [
      "isError in words",
      { result: { isError: true, content: text("no such tool") } },
      failed("no such tool"),
    ],
    ["status error", { result: { status: "error" } }, NO_VALUE],
    [
      "status error in words",
      { result: { status: "error", error: "declined" } },
      failed("declined"),
    ],
    ["ok without a value", { result: { structuredContent: { ok: true } } }, NO_VALUE],
    ["not ok, without a reason", { result: results.callFailure({}) }, failed("The read failed.")],
    [
      "a reason whose code is none",
      { result: results.callFailure({ code: "<b>", message: "odd", retryable: "yes" }) },
      failed("odd"),
    ],
    [
      "the server's own reason, without its address",
      {
        result: results.callFailure({
          code: "rate_limited",
          message: "incidents.get: wait",
          retryable: true,
        }),
      },
      "rate_limited: detail: wait Try again.",
    ],
    [
      "V10 half a value",
      { result: { structuredContent: { ok: true, truncated: true, data: [1], preview: "[1" } } },
      "result_too_large: The answer is too large for a view: ask for less, or for a page of it.",
    ],
    [
      "V10 half a value in text alone",
      { result: { content: text(`{"ok":true,"truncated":true,"preview":"[1"}`) } },
      "result_too_large: The answer is too large for a view: ask for less, or for a page of it.",
    ],
  ])("%s", async (_, body, words) => {
    const opened = await stage.open({ result: view }, never);
    const inner = await opened.inner();
    const reading = shown(inner);
    await expect.poll(() => opened.calls()).toHaveLength(1);
    await answerByHand(opened, body);
    const seen = await reading;
    if (typeof words === "string") expect(seen).toBe(words);
    else expect(seen).toMatch(words);
    await mustSee(opened, `view: ${seen}`);
    expect(opened.complaints).toEqual([]);
  });

  test("twice: the first counts", async () => {
    const opened = await stage.open({ result: view }, never);
    const inner = await opened.inner();
    const reading = shown(inner);
    await expect.poll(() => opened.calls()).toHaveLength(1);
    await answerByHand(opened, { result: results.valueResult(1) });
    await answerByHand(opened, { result: results.valueResult(2) });
    await answerByHand(opened, { error: { code: -32000, message: "after all not" } });
    expect(await reading).toBe("value: 1");
    await heard(opened);
    expect(await inner.textContent("#out")).toBe("value: 1");
    expect(opened.complaints).toEqual([]);
  });

  test("under another's id, or a guessed one: it settles nothing", async () => {
    const opened = await stage.open({ result: view }, never);
    const inner = await opened.inner();
    const reading = shown(inner);
    await expect.poll(() => opened.calls()).toHaveLength(1);
    for (const id of [0, 1, 2, -1, "1", "", null, [1], {}, 2 ** 53]) {
      await opened.send({ jsonrpc: "2.0", id, result: results.valueResult("guessed") });
    }
    await heard(opened);
    await answerByHand(opened, { result: results.valueResult("its own") });
    expect(await reading).toBe(`value: "its own"`);
    expect(opened.complaints).toEqual([]);
  });

  test("never: after a minute the read fails, the host hears so, and its late answer is dropped", async () => {
    const opened = await stage.open({ initialize: "once" }, never);
    await windClock(opened);
    await opened.deliver(view);
    const inner = await opened.inner();
    const reading = shown(inner);
    await expect.poll(() => opened.calls()).toHaveLength(1);
    await opened.page.clock.runFor(61_000);
    expect(await reading).toBe("timeout: The read took too long. Try again.");
    const passed = await opened.passed();
    const call = passed.findLast(({ message }) => message.method === "tools/call");
    const cancelled = passed.findLast(
      ({ message }) => message.method === "notifications/cancelled",
    );
    expect(cancelled?.message.params).toMatchObject({ requestId: call?.message.id });
    await answerByHand(opened, { result: results.valueResult("late") });
    await heard(opened);
    expect(await inner.textContent("#out")).toContain("timeout");
    expect(opened.complaints).toEqual([]);
  });
});

describe("V11 a refusal by the shell is as helpful", () => {
  test.each([
    [
      "an undeclared name",
      "delete",
      "{}",
      "unknown_read: The view declared no such read; it declared: refresh, detail.",
    ],
    [
      "an undeclared argument",
      "detail",
      "{ admin: true }",
      "invalid_args: This read takes no argument of that name from the view.",
    ],
    [
      "arguments in a list",
      "detail",
      "[1]",
      "invalid_args: The arguments of a read are an object.",
    ],
    [
      "arguments that are no JSON",
      "detail",
      "{ id: new Map() }",
      "invalid_args: The arguments hold a value that is not JSON.",
    ],
    [
      "arguments that cannot be sent",
      "detail",
      "{ id: () => 1 }",
      "invalid_args: The arguments of a read must be plain JSON.",
    ],
    [
      "too many arguments",
      "detail",
      `{ id: "x".repeat(65536) }`,
      "invalid_args: The arguments are over 65536 bytes.",
    ],
  ])("%s", async (_, name, args, words) => {
    const opened = await stage.open({ result: view }, never);
    const inner = await opened.inner();
    expect(await shown(inner, name, args)).toBe(words);
    await mustSee(opened, `view: ${words}`);
    expect(await opened.calls()).toEqual([]);
  });

  test("a ninth read at once", async () => {
    const opened = await stage.open({ result: view }, never);
    const inner = await opened.inner();
    await inner.evaluate(`for (let id = 0; id < 8; id++) void connecta.read("detail", { id }); 0`);
    expect(await shown(inner)).toBe(
      "too_many_reads: A view runs at most 8 reads at once. Try again.",
    );
    expect(await opened.calls()).toHaveLength(8);
  });

  test("a host without server tools", async () => {
    const opened = await stage.open({ result: view, hostCapabilities: {} }, never);
    expect(await shown(await opened.inner())).toBe(
      "reads_unavailable: This host runs no reads for views; the view shows what it came with.",
    );
  });
});

describe("V9 the bridge ends with the document that it was given to", () => {
  const landing = () => Promise.resolve(results.valueResult("landed"));
  /** Only a promise that nobody settles loses this race. */
  const again = `Promise.race([
    connecta.read("detail", { id: 2 }).then(String, (error) => error.code),
    new Promise((resolve) => setTimeout(resolve, 2000, "never settled")),
  ])`;
  // A page that is small is loaded before the shell has its port, one with a picture after.
  const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
  test.each([
    ["of a page that loads at once", ""],
    ["of a page with a picture", `<img alt="" src="data:image/gif;base64,${GIF}">`],
  ])("document.open() %s: no read reaches the host, and each says so", async (_, more) => {
    const opened = await stage.open({ result: results.viewResult(PAGE + more, READS) }, landing);
    const inner = await opened.inner();
    expect(await inner.evaluate(again)).toBe("landed");
    const rewritten = opened.shell().evaluate(
      () =>
        new Promise((resolve) => {
          document.querySelector("iframe")?.addEventListener("load", () => resolve(0));
        }),
    );
    await inner.evaluate(
      `setTimeout(() => { document.open(); document.write("<p>new</p>"); document.close() }); 0`,
    );
    await rewritten;
    const code = await inner.evaluate(again);
    expect(await opened.calls()).toHaveLength(1);
    expect(code).toBe("reads_unavailable");
  });

  test("after a teardown nothing listens to the inner page, and nothing of the host changes the view", async () => {
    const opened = await stage.open({}, landing);
    // Counts the ears of each window from its first moment on.
    await opened.page.addInitScript(() => {
      const counted = { ears: 0, ports: [] as MessagePort[] };
      Object.assign(window, { counted });
      const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
      window.addEventListener = (...given: unknown[]) => {
        if (given[0] === "message") counted.ears++;
        Reflect.apply(add, window, given);
      };
      window.removeEventListener = (...given: unknown[]) => {
        if (given[0] === "message") counted.ears--;
        Reflect.apply(remove, window, given);
      };
      const post = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function (...given: unknown[]) {
        counted.ports.push(this);
        return Reflect.apply(post, this, given) as undefined;
      };
    });
    await opened.remount("reload");
    await opened.deliver(view);
    const inner = await opened.inner();
    expect(await inner.evaluate(again)).toBe("landed");
    const ears = () => opened.shell().evaluate("counted.ears");
    expect(await ears()).toBe(2);
    await opened.send({ jsonrpc: "2.0", id: "end", method: "ui/resource-teardown", params: {} });
    await expect.poll(() => inner.evaluate(again)).toBe("reads_unavailable");
    // What is left is the host's line alone, so that a second teardown is answered too.
    expect(await ears()).toBe(1);
    // A read that was faster than the teardown is one more.
    const calls = await opened.calls();

    const before = await inner.evaluate(() => getComputedStyle(document.body).color);
    await inner.evaluate(
      `counted.ports[0].postMessage({ id: 99, name: "detail", args: { id: 3 } })`,
    );
    await inner.evaluate(() => {
      const { port2 } = new MessageChannel();
      window.parent.postMessage({ type: "connecta/port", render: "" }, "*", [port2]);
    });
    const method = "ui/notifications/host-context-changed";
    await opened.send({ jsonrpc: "2.0", method, params: { theme: "dark" } });
    await opened.deliver(results.viewResult("<p>another</p>"));
    await opened.deliver(results.failedResult);
    await opened.send({ jsonrpc: "2.0", id: "again", method: "ui/resource-teardown", params: {} });
    await heard(opened);
    expect((await opened.passed()).map(({ message }) => message.id)).toContain("again");
    expect(await inner.evaluate(() => getComputedStyle(document.body).color)).toBe(before);
    expect(await inner.textContent("#out")).toBe("nothing yet");
    expect(await opened.calls()).toEqual(calls);
    expect(opened.complaints).toEqual([]);
  });
});
