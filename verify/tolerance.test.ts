import { describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { heard, mustSee, seen, windClock } from "./shell/sight.ts";
import { type Opened, type ShellPath } from "./shell/stage.ts";
import { landing, PAGE, READS, RUNNING, view, VIEW, useStage } from "./shell/usual.ts";

const stage = useStage();

const FAILED = "line: program_error<b>total</b> is not defined (line 3, column 9)";
const REMOVED = "line: This host removed the view; the text answer stands.";
const notify = (method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  method: `ui/notifications/${method}`,
  ...(params !== undefined && { params }),
});
const result = (params: unknown) => notify("tool-result", params);
const input = notify("tool-input", { arguments: { code: "async () => 1" } });
const partial = notify("tool-input-partial", { arguments: { code: "asy" } });
const cancelled = notify("tool-cancelled", { reason: "stopped" });
/** One read by the program of the view that stands. */
async function read(opened: Opened): Promise<unknown> {
  const inner = await opened.inner();
  return inner.evaluate(`connecta.read("item", { id: 1 }).catch((error) => error.code)`);
}
/** What is to be complained about, but for the browser's word on a policy in a place that a host chose. */
const trouble = ({ complaints }: Opened) =>
  complaints.filter((complaint) => !complaint.includes("outside the document's <head>"));
/** The sizes that the view reported so far. */
/** The line that a slow machine shows first is as high as this. */
const WAITING = 35;

const sizes = async (opened: Opened) =>
  (await opened.passed())
    .filter(({ message }) => message.method === "ui/notifications/size-changed")
    .map(({ message }) => message.params as { height: number })
    .filter(({ height }, at) => at > 0 || height !== WAITING);
const sendAll = async (opened: Opened, messages: readonly unknown[]) => {
  for (const message of messages) await opened.send(message);
  await heard(opened);
};

describe("1. a host whose notifications are early, late, doubled, missing or foreign", () => {
  const foreign = result(results.valueResult({ rows: 3 }));
  const words = result({ content: [{ type: "text", text: "42" }] });
  const other = result(results.viewResult("<p>another</p>"));
  type Case = [name: string, first: unknown[], seen: string, then: unknown[], last: string];
  const CASES: Case[] = [
    ["no tool-input", [result(view)], VIEW, [], VIEW],
    ["tool-input twice", [input, input, result(view)], VIEW, [], VIEW],
    ["tool-input late", [result(view)], VIEW, [partial, input], VIEW],
    ["many partial inputs", [...Array(50).fill(partial), result(view)], VIEW, [partial], VIEW],
    ["the result twice", [input, result(view), result(view)], VIEW, [result(view)], VIEW],
    ["a result of another call", [foreign, words], RUNNING, [result(view)], VIEW],
    ["a result of another call late", [result(view)], VIEW, [foreign, words, other], VIEW],
    ["a failure late", [result(view)], VIEW, [result(results.failedResult)], VIEW],
    ["a cancellation late", [result(view)], VIEW, [cancelled], VIEW],
    ["a cancellation first", [cancelled], "line: Cancelled: stopped", [result(view)], VIEW],
    ["a cancellation twice", [cancelled, cancelled], "line: Cancelled: stopped", [], VIEW],
    [
      "a cancellation in no words",
      [notify("tool-cancelled", { reason: null })],
      "line: Cancelled.",
      [],
      "line: Cancelled.",
    ],
    ["a cancellation without anything", [notify("tool-cancelled")], "line: Cancelled.", [], ""],
    ["a result that is none", [result(null), result([]), notify("tool-result")], RUNNING, [], ""],
    ["a result that is text", [result("rows")], RUNNING, [result(view)], VIEW],
    ["an unheard-of notification", [notify("tool-sneezed", {})], RUNNING, [result(view)], VIEW],
    ["nothing at all", [], RUNNING, [result(view)], VIEW],
  ];

  test.each(CASES)("after the handshake: %s", async (_, first, before, then, after) => {
    const opened = await stage().open();
    await sendAll(opened, first);
    await mustSee(opened, before);
    // What stands is never put up again by what comes later.
    const kept = before === VIEW ? await opened.inner() : undefined;
    await kept?.evaluate("window.kept = true");
    await sendAll(opened, then);
    if (then.length > 0) await mustSee(opened, after);
    if (kept) expect(await kept.evaluate("window.kept")).toBe(true);
    expect(opened.complaints).toEqual([]);
  });

  test.each<[string, unknown[], string]>([
    ["its result", [result(view)], VIEW],
    ["its result twice", [input, result(view), result(view)], VIEW],
    ["a cancellation", [cancelled], "line: Cancelled: stopped"],
    ["a cancellation and its result", [cancelled, result(view)], VIEW],
    ["the result of another call", [foreign], RUNNING],
  ])("before the handshake: %s", async (_, beforeInit, seen) => {
    const opened = await stage().open({ beforeInit });
    await mustSee(opened, seen);
    expect(opened.complaints).toEqual([]);
  });
});

describe("2. a host that strips results", () => {
  const { content, structuredContent, _meta } = view;
  const text = (words: string) => [{ type: "text", text: words }];
  test.each<[string, unknown, string]>([
    ["_meta", { content, structuredContent }, REMOVED],
    ["_meta and structuredContent", { content }, REMOVED],
    ["structuredContent", { content, _meta }, VIEW],
    ["everything but the payload", { _meta }, VIEW],
    ["the envelope, and puts words of its own", { content: text("Done."), _meta }, VIEW],
    ["its own wrapping around", { result: view }, VIEW],
    ["blocks into words", { content: "Done.", structuredContent, _meta }, VIEW],
    ["everything", { content: [] }, RUNNING],
    ["a failure to its words", { content: text("boom"), isError: true }, "line: boom"],
    [
      "a failure to white space",
      { content: text(" \n "), isError: true },
      "line: The call failed.",
    ],
    ["a failure to nothing", { isError: true }, "line: The call failed."],
  ])("of %s", async (_, stripped, seen) => {
    const opened = await stage().open({ result: stripped });
    await mustSee(opened, seen);
    expect(opened.complaints).toEqual([]);
  });
});

test.each([
  ["empty", { code: "", message: "" }],
  ["blank", { code: " ", message: "\n" }],
])("2. a failure whose words are %s is told in words all the same", async (_, error) => {
  const opened = await stage().open({ result: { structuredContent: { error }, isError: true } });
  await expect.poll(() => seen(opened)).toMatch(/^line: \w/);
});

test("3. a host that lets views call any tool hears of call_tool alone", async () => {
  const reads = { item: { address: "execute_code" } };
  const opened = await stage().open({ result: results.viewResult(PAGE, reads) }, landing);
  const inner = await opened.inner();
  expect(await inner.evaluate(`connecta.read("item")`)).toBe("landed");
  const [call, ...more] = (await opened.calls()) as { name: string; arguments: unknown }[];
  expect(more).toEqual([]);
  expect(call?.name).toBe("call_tool");
  expect(call?.arguments).toEqual({ address: "execute_code", args: {}, resultMode: "value" });
});

describe("4. a host with heights of its own", () => {
  const FILLING = `<style>html, body { height: 100%; margin: 0 } main { min-height: 100vh }</style>
    <main>${PAGE}</main>`;
  test.each(["300px", "400px", "650px", "800px", "75vh", "100%"])(
    "%s, whatever the view asks for: it stands in sight and says its size once",
    async (height) => {
      const opened = await stage().open({ frameHeight: 300, result: results.viewResult(FILLING) });
      await opened.page.addStyleTag({
        content: `html, body { height: 100% } #view { height: ${height} !important }`,
      });
      await mustSee(opened, VIEW);
      await expect.poll(() => sizes(opened)).toEqual([{ height: 480 }]);
      // Once more, as a window that changes makes hosts lay out again.
      await opened.page.setViewportSize({ width: 700, height: 500 });
      await mustSee(opened, VIEW);
      expect(await sizes(opened)).toEqual([{ height: 480 }]);
    },
  );

  test.each<[string, Record<string, unknown>, number]>([
    ["at most 5,000 px", { maxHeight: 5000 }, 480],
    ["400 px", { height: 400 }, 400],
    ["at most 300 px", { maxHeight: 300 }, 300],
    ["at most 100 px", { maxHeight: 100 }, 100],
    ["600 px at first, and no bound", {}, 480],
    ["a height of zero", { height: 0, maxHeight: 0 }, 480],
    ["a height in percent", { height: "75vh", maxHeight: "100%" }, 480],
  ])("%s: one size in whole pixels, and the view fills it", async (_, dimensions, height) => {
    const hostContext = { theme: "light", containerDimensions: dimensions };
    const opened = await stage().open({ hostContext, result: results.viewResult(FILLING) });
    await mustSee(opened, VIEW);
    await expect.poll(() => sizes(opened)).toEqual([{ height }]);
    const box = await opened.shell().locator("iframe").boundingBox();
    expect(box?.height).toBe(height);
  });
});

describe("6. a host that treats the page in its own way", () => {
  test.each(["display: none", "visibility: hidden", "height: 0 !important", "width: 0"])(
    "hides the frame until the view is initialized: %s",
    async (hidden) => {
      const opened = await stage().open();
      await opened.page.addStyleTag({ content: `.hidden { ${hidden} }` });
      const frame = opened.page.locator("#view");
      await frame.evaluate((element) => element.classList.add("hidden"));
      await opened.remount("reload");
      await sendAll(opened, [result(view)]);
      await opened.inner();
      await frame.evaluate((element) => element.classList.remove("hidden"));
      await mustSee(opened, VIEW);
      await expect.poll(async () => (await sizes(opened)).at(-1)).toEqual({ height: 480 });
      expect(opened.complaints).toEqual([]);
    },
  );

  test.each<[ShellPath, boolean]>([
    ["/shell", true],
    ["/moved/shell", false],
    ["/moved/shell", true],
    ["/header/shell", false],
    ["/header/shell", true],
  ])("puts it at %s, a foreign script before it: %s", async (shell, shim) => {
    const opened = await stage().open({ shell, shim, result: view }, landing);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    expect(trouble(opened)).toEqual([]);
  });

  test("gives it an opaque origin, where storage throws", async () => {
    const opened = await stage().open({ result: view }, landing);
    await mustSee(opened, VIEW);
    for (const frame of [opened.shell(), await opened.inner()]) {
      expect(await frame.evaluate(() => self.origin)).toBe("null");
      const names = ["localStorage", "sessionStorage", "indexedDB.open('x')", "document.cookie"];
      for (const name of names)
        await expect(frame.evaluate(name)).rejects.toThrow(/denied|sandboxed/);
    }
    expect(await read(opened)).toBe("landed");
  });

  const STRICT = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
  test.each([
    ["nothing but inline script and style", STRICT],
    ["the same, and a sandbox of its own", `${STRICT}; sandbox allow-scripts`],
    ["the same, and no frame, worker or base", `${STRICT}; frame-src 'none'; base-uri 'none'`],
  ])("serves it with a header of its own that allows %s", async (_, policy) => {
    const opened = await stage().open({ shell: "/moved/shell", result: view }, landing);
    await opened.page.route("**/moved/shell", async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), "content-security-policy": policy };
      await route.fulfill({ response, headers });
    });
    await opened.remount("reload");
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    // The control: the header is the one that holds.
    const picture =
      "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    const loads = await opened.shell().evaluate((src) => {
      const image = new Image();
      image.src = src;
      return image.decode().then(
        () => "loaded",
        () => "blocked",
      );
    }, picture);
    expect(loads).toBe("blocked");
  });
});

describe("7. a host whose calls fail in its own way", () => {
  test.each<[string, unknown, string]>([
    ["isError and no envelope", { isError: true, content: [] }, "line: The call failed."],
    ["a failure of ours", results.failedResult, FAILED],
    ["a result that says error", { status: "error", error: "no such tool" }, RUNNING],
  ])("mounts the view for %s", async (_, given, seen) => {
    const opened = await stage().open({ result: given });
    await mustSee(opened, seen);
    expect(opened.complaints).toEqual([]);
  });

  test("sends nothing for a minute: a line of words says so, and a late result still counts", async () => {
    const opened = await stage().open();
    await windClock(opened);
    await mustSee(opened, RUNNING);
    await opened.page.clock.runFor(58_000);
    await mustSee(opened, RUNNING);
    await opened.page.clock.runFor(3_000);
    await mustSee(opened, "line: No result has arrived yet.");
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    expect(opened.complaints).toEqual([]);
  });
});

describe("8. a host with a look of its own", () => {
  const FONT = "data:font/woff2;base64,d09GMgABAAAAAAAA";
  const VARIABLES = {
    "--color-text-primary": "light-dark(#111111, #eeeeee)",
    "--color-text-secondary": "var(--vscode-descriptionForeground)",
    "--color-background-primary": "var(--vscode-editor-background, #202020)",
    "--font-sans": "Host Sans, monospace",
  };

  test("values of any kind and any few of them: the view stands, readable", async () => {
    const hostContext = { theme: "dark", styles: { variables: VARIABLES } };
    const opened = await stage().open({ scheme: "dark", hostContext, result: view });
    await mustSee(opened, VIEW);
    const look = await (
      await opened.inner()
    ).evaluate(() => {
      const { color, fontFamily } = getComputedStyle(document.body);
      return { color, fontFamily };
    });
    expect(look).toEqual({ color: "rgb(238, 238, 238)", fontFamily: '"Host Sans", monospace' });
    expect(opened.complaints).toEqual([]);
  });

  test("fonts of the host are inert: nothing is fetched, the next family stands in", async () => {
    const fonts = `@font-face { font-family: "Host Sans"; src: url("${stage().origin}/font.woff2") }
      @import url("${stage().origin}/fonts.css");`;
    const styles = { variables: VARIABLES, css: { fonts } };
    const opened = await stage().open({ hostContext: { theme: "light", styles }, result: view });
    await mustSee(opened, VIEW);
    for (const frame of [opened.shell(), await opened.inner()]) {
      expect(await frame.evaluate(() => document.fonts.size)).toBe(0);
    }
    expect(stage().requests.filter((path) => path.includes("font"))).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("a font that a program brings along stays inert where the host allows none", async () => {
    const html = `<style>@font-face { font-family: Own; src: url("${FONT}") }
      body { font-family: Own, monospace }</style>${PAGE}`;
    const opened = await stage().open({ result: results.viewResult(html) });
    await mustSee(opened, VIEW);
    await expect.poll(() => opened.complaints.join()).toContain("font-src");
  });
});

describe("9. a program that is busy", () => {
  test("keeps the host waiting no longer than it is, and then everything is as it was", async () => {
    const spin = `<script>busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); }</script>`;
    const opened = await stage().open({ result: results.viewResult(spin + PAGE, READS) }, landing);
    const inner = await opened.inner();
    await inner.evaluate("setTimeout(busy, 0, 700); 0");
    await opened.send(notify("host-context-changed", { theme: "dark" }));
    await heard(opened);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });

  test("from its first moment still leaves its page to be seen", async () => {
    const spin = `<script>const end = performance.now() + 700; while (performance.now() < end);</script>`;
    const opened = await stage().open({ result: results.viewResult(PAGE + spin) });
    await mustSee(opened, VIEW);
    expect(opened.complaints).toEqual([]);
  });
});

describe("10. a frame inside a frame", () => {
  test("stands although the policy of the host allows no frame at all", async () => {
    const opened = await stage().open({ result: view }, landing);
    await mustSee(opened, VIEW);
    // The control: the same policy stops a frame that has an address.
    await opened.shell().evaluate((src) => {
      const frame = document.createElement("iframe");
      frame.src = src;
      document.body.append(frame);
    }, `${stage().origin}/framed`);
    await expect.poll(() => opened.complaints.join()).toContain("frame-src");
    expect(stage().requests).not.toContain("/framed");
  });

  test("that loads itself again still shows its page, with reads that say why they ended", async () => {
    const opened = await stage().open({ result: view }, landing);
    const inner = await opened.inner();
    await inner.evaluate("setTimeout(() => location.reload()); 0");
    await expect.poll(() => read(opened).catch(() => "loading")).toBe("reads_unavailable");
    await mustSee(opened, VIEW);
  });
});

test("the look would tell: a host that gives the view no room shows a blank frame", async () => {
  const opened = await stage().open({ result: view, frameHeight: 5 });
  await expect.poll(() => seen(opened)).toBe("blank: 720 × 5 px");
  const white = `<style>:root { color-scheme: light } * { color: #fff !important; background: #fff }</style>`;
  const unseen = await stage().open({ result: results.viewResult(white + PAGE) });
  await expect.poll(() => seen(unseen)).toContain("blank: painted in one colour");
  const empty = await stage().open({ result: results.viewResult("<!-- -->") });
  await expect.poll(() => seen(empty)).toBe("blank: the page of the program is empty");
});
