import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { HostConfig } from "./shell/host-page.ts";
import * as results from "./shell/results.ts";
import { heard } from "./shell/sight.ts";
import { Stage, type Opened } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const PAGE = `<h1>Open incidents</h1><p>Three, all acknowledged.</p><button type="button">Refresh</button>`;
const line = (opened: Opened) => opened.shell().waitForSelector("[role=status]");
const methods = async (opened: Opened) =>
  (await opened.passed()).map(({ from, message }) => `${from} ${message.method ?? "response"}`);

describe("the handshake", () => {
  test("goes initialize, response, initialized, result, and the view stands", async () => {
    const opened = await stage.open({ result: results.viewResult(PAGE) });
    expect(await (await opened.inner()).textContent("h1")).toBe("Open incidents");
    await opened.page.waitForFunction(() => document.querySelector("iframe")?.clientHeight === 480);
    expect(await methods(opened)).toEqual([
      "view ui/initialize",
      "host response",
      "view ui/notifications/initialized",
      "host ui/notifications/tool-result",
      "view ui/notifications/size-changed",
    ]);
    expect(opened.complaints).toEqual([]);
  });

  test("asks under an id that a page in the same window cannot guess", async () => {
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const opened = await stage.open({ result: results.plainResult });
        await opened.page.waitForFunction(
          () => document.querySelector("iframe")?.clientHeight === 1,
        );
        return Number((await opened.passed())[0]?.message.id);
      }),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toBeGreaterThan(1_000_000);
  });

  test.each<[string, HostConfig["initialize"]]>([
    ["answers twice", "twice"],
    ["never answers", "never"],
  ])("shows the view in a host that %s", async (_, initialize) => {
    const opened = await stage.open({ initialize });
    await opened.deliver(results.viewResult(PAGE));
    expect(await (await opened.inner()).textContent("h1")).toBe("Open incidents");
    expect(opened.complaints).toEqual([]);
  });

  test("says so in words when the host refuses to start it", async () => {
    const opened = await stage.open({ initialize: "error" });
    expect(await (await line(opened)).textContent()).toBe("The host did not start this view.");
    expect(opened.complaints).toEqual([]);
  });

  test("says so in words when nothing embeds it", async () => {
    const opened = await stage.open();
    await opened.page.goto(opened.shell().url());
    expect(await opened.page.textContent("[role=status]")).toContain("MCP host");
  });

  test("answers a teardown at once and then keeps still", async () => {
    const opened = await stage.open({ result: results.viewResult(PAGE) });
    await opened.inner();
    await opened.send({ jsonrpc: "2.0", id: "bye", method: "ui/resource-teardown", params: {} });
    await opened.page.waitForFunction(() =>
      (window as unknown as { host: { passed: { message: { id?: unknown } }[] } }).host.passed.some(
        ({ message }) => message.id === "bye" && "result" in message,
      ),
    );
    expect((await opened.passed()).at(-1)?.message).toEqual({
      jsonrpc: "2.0",
      id: "bye",
      result: {},
    });
  });
});

describe("the policy of the page", () => {
  const READS = { item: { address: "shop.item" } };
  const landing = () => Promise.resolve(results.valueResult("landed"));
  const violations = ({ complaints }: Opened) =>
    complaints.filter((complaint) => complaint.startsWith("violation of"));

  test("is violated in no state, by no part of the shell or of what it is built from", async () => {
    const context = { theme: "dark", availableDisplayModes: ["inline", "fullscreen"] };
    const opened = await stage.open({ hostContext: context }, landing);
    const states = [
      results.viewResult(PAGE, READS),
      results.viewResult(PAGE),
      results.plainResult,
      results.failedResult,
      results.droppedResult,
      results.malformedResult,
    ];
    for (const result of states) {
      await opened.deliver(result);
      await heard(opened);
      if (result === states[0]) {
        expect(await (await opened.inner()).evaluate(`connecta.read("item")`)).toBe("landed");
      }
      await opened.remount("reload");
    }
    await line(opened);
    expect(violations(opened)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("would be heard to be violated: in the shell and in a view, by a compiler and by a picture", async () => {
    const probe = `<script>try { new Function("") } catch {}</script>`;
    const picture = `<img alt="" src="${stage.origin}/picture.png">`;
    const opened = await stage.open({ result: results.viewResult(probe + picture) });
    await opened.inner();
    await expect
      .poll(() => [...new Set(violations(opened))])
      .toEqual([
        "violation of script-src by eval",
        `violation of img-src by ${stage.origin}/picture.png`,
      ]);
    const shell = await stage.open({ result: results.plainResult });
    await shell.shell().evaluate(() => {
      const script = document.createElement("script");
      // Later: what the driver of the browser runs itself may compile what it likes.
      script.textContent = `setTimeout(() => { try { new Function("") } catch {} })`;
      document.head.append(script);
    });
    await expect
      .poll(() => [...new Set(violations(shell))])
      .toEqual(["violation of script-src by eval"]);
    expect(stage.requests).not.toContain("/picture.png");
  });
});

describe.each(["light", "dark"] as const)("every state in a %s host", (scheme) => {
  const states: [string, unknown, string | undefined][] = [
    ["failed", results.failedResult, "program_error<b>total</b> is not defined (line 3, column 9)"],
    ["dropped", results.droppedResult, "This host removed the view; the text answer stands."],
    ["malformed", results.malformedResult, "This view cannot be shown: reads is not an object."],
    ["waiting", undefined, "Running\u2026"],
  ];
  test.each(states)("%s is one line of words", async (name, result, words) => {
    const opened = await stage.open({ scheme, result });
    expect(await (await line(opened)).textContent()).toBe(words);
    await opened.page.waitForFunction(
      () => (document.querySelector("iframe")?.clientHeight ?? 0) < 40,
    );
    expect(await opened.shell().locator("main b").count()).toBe(0);
    await opened.picture(`${name}-${scheme}`);
    expect(opened.complaints).toEqual([]);
  });

  test("cancelled is one line of words", async () => {
    const opened = await stage.open({ scheme });
    await line(opened);
    const params = { reason: "the person stopped it" };
    await opened.send({ jsonrpc: "2.0", method: "ui/notifications/tool-cancelled", params });
    await expect
      .poll(() => opened.shell().textContent("main"))
      .toBe("Cancelled: the person stopped it");
    await opened.picture(`cancelled-${scheme}`);
  });

  test("no view takes one pixel", async () => {
    const opened = await stage.open({ scheme, result: results.plainResult });
    await opened.page.waitForFunction(() => document.querySelector("iframe")?.clientHeight === 1);
    expect(
      await opened
        .shell()
        .locator("main")
        .evaluate((main) => main.childNodes.length),
    ).toBe(0);
    await opened.picture(`none-${scheme}`);
  });

  test("a view shows no box of the other colour behind it", async () => {
    const opened = await stage.open({ scheme, result: results.viewResult(PAGE) });
    await opened.inner();
    await opened.page.waitForFunction(() => document.querySelector("iframe")?.clientHeight === 480);
    await opened.picture(`view-${scheme}`);
    const [outside, inside] = await pixels(opened, [
      [4, 4],
      [400, 300],
    ]);
    expect(inside).toEqual(outside);
    expect(opened.complaints).toEqual([]);
  });
});

test("the picture would show a box: a view that insists on light stands out in a dark host", async () => {
  const light = `<style>:root { color-scheme: light }</style>${PAGE}`;
  const opened = await stage.open({ scheme: "dark", result: results.viewResult(light) });
  await opened.inner();
  await opened.page.waitForFunction(() => document.querySelector("iframe")?.clientHeight === 480);
  const [outside, inside] = await pixels(opened, [
    [4, 4],
    [400, 300],
  ]);
  expect(inside).toEqual([255, 255, 255, 255]);
  expect(outside).not.toEqual(inside);
});

/** Colours of the page as it is painted, through a picture of it. */
async function pixels(opened: Opened, points: [number, number][]): Promise<number[][]> {
  const picture = (await opened.page.screenshot()).toString("base64");
  return opened.page.evaluate(
    async ([data, wanted]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context?.drawImage(image, 0, 0);
      return wanted.map(([x, y]) => [...(context?.getImageData(x, y, 1, 1).data ?? [])]);
    },
    [picture, points] as const,
  );
}
