import type { Frame } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { Stage, type Opened } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const PAGE = `<h1>Title</h1><p>Text</p>`;
const READS = { item: { address: "shop.item" } };
const open = (host: Parameters<Stage["open"]>[0], html = PAGE, reads?: object) =>
  stage.open({ result: results.viewResult(html, reads), ...host });
const style = (frame: Frame, selector: string, property: string) =>
  frame.evaluate(
    ([chosen, name]) => {
      const element = document.querySelector(chosen);
      return element ? getComputedStyle(element).getPropertyValue(name).trim() : "nothing";
    },
    [selector, property] as const,
  );
const changeContext = (opened: Opened, params: object) =>
  opened.send({ jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params });
/** The line that a slow machine shows first is as high as this. */
const WAITING = 35;

const heights = async (opened: Opened) =>
  (await opened.passed())
    .filter(({ message }) => message.method === "ui/notifications/size-changed")
    .map(({ message }) => (message.params as { height: number }).height)
    .filter((height, at) => at > 0 || height !== WAITING);

describe("the look of a view", () => {
  test("follows the host's values, and the built-in ones where the host's mean nothing", async () => {
    const variables = {
      "--color-text-primary": "rgb(1, 2, 3)",
      "--color-text-secondary": "var(--vscode-foreground)",
      "--color-background-primary": "no colour",
      "--font-sans": "monospace",
    };
    const opened = await open({ hostContext: { theme: "light", styles: { variables } } });
    const inner = await opened.inner();
    expect(await style(inner, "body", "color")).toBe("rgb(1, 2, 3)");
    expect(await style(inner, "body", "font-family")).toBe("monospace");
    expect(await style(inner, "html", "--color-text-secondary")).toContain("light-dark(");
    expect(await style(inner, "html", "--color-background-primary")).toContain("light-dark(");
  });

  test("gives way to any rule of the program", async () => {
    const rules = `<style>*{margin:0}html{color-scheme:light;--color-text-primary:rgb(9, 9, 9)}h1{font-size:50px}</style>`;
    const variables = { "--color-text-primary": "rgb(1, 2, 3)" };
    const context = { theme: "dark", styles: { variables } };
    const opened = await open({ hostContext: context }, rules + PAGE);
    const inner = await opened.inner();
    expect(await style(inner, "body", "margin-top")).toBe("0px");
    expect(await style(inner, "html", "color-scheme")).toBe("light");
    expect(await style(inner, "body", "color")).toBe("rgb(9, 9, 9)");
    expect(await style(inner, "h1", "font-size")).toBe("50px");
  });

  test.each([
    ["without reads", undefined],
    ["with reads", READS],
  ])("changes with the host's theme while the view is open, %s", async (_, reads) => {
    const opened = await open({ scheme: "light" }, PAGE, reads);
    const inner = await opened.inner();
    expect(await style(inner, "html", "color-scheme")).toBe("light");
    const light = await style(inner, "body", "color");
    const variables = { "--color-text-secondary": "rgb(4, 5, 6)" };
    await changeContext(opened, { theme: "dark", styles: { variables } });
    await expect.poll(() => style(inner, "html", "color-scheme")).toBe("dark");
    expect(await style(inner, "body", "color")).not.toBe(light);
    expect(await style(inner, "html", "--color-text-secondary")).toBe("rgb(4, 5, 6)");
    expect(await style(opened.shell(), "html", "color-scheme")).toBe("dark");
    await changeContext(opened, { theme: "light", styles: {} });
    await expect.poll(() => style(inner, "body", "color")).toBe(light);
    expect(await style(inner, "html", "--color-text-secondary")).toContain("light-dark(");
  });

  test("does not show the shell's messages to the program", async () => {
    const html = `<p>x</p><script>window.heard = []; addEventListener("message", (e) => heard.push(e.data))</script>`;
    const opened = await open({ scheme: "light" }, html);
    const inner = await opened.inner();
    await changeContext(opened, { theme: "dark" });
    await expect.poll(() => style(inner, "html", "color-scheme")).toBe("dark");
    expect(await inner.evaluate("heard")).toEqual([]);
  });

  test.each([
    ["names no theme", {}],
    ["names one that no view can mean", { theme: "system" }],
  ])("follows the system when the host %s", async (_, hostContext) => {
    const opened = await open({ hostContext });
    const inner = await opened.inner();
    expect(await style(inner, "html", "color-scheme")).toBe("light");
    await opened.page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => style(inner, "html", "color-scheme")).toBe("dark");
  });
});

describe("links", () => {
  const LINKS = `<a id="down" href="#far">down</a> <a id="refused" href="#far">no</a>
    <a id="away" href="https://example.invalid/">away</a> <a id="button" href="#">button</a>
    <div style="height:3000px"></div><h2 id="far">Far</h2>
    <script>refused.addEventListener("click", (event) => event.preventDefault())</script>`;
  const scroll = (inner: Frame) => inner.evaluate(() => Math.round(window.scrollY));

  test("within the page scroll, again and again, and keep the document", async () => {
    const opened = await open({}, LINKS);
    const inner = await opened.inner();
    await inner.evaluate("window.kept = true");
    for (let round = 0; round < 2; round++) {
      await inner.evaluate(() => window.scrollTo(0, 0));
      await inner.locator("#down").dispatchEvent("click");
      await expect.poll(() => scroll(inner)).toBeGreaterThan(1_000);
    }
    expect(await inner.evaluate(() => document.querySelector(":target")?.id)).toBe("far");
    expect(await inner.evaluate("window.kept")).toBe(true);
    expect(opened.complaints).toEqual([]);
  });

  test("that the program refuses, or uses as buttons, or that lead away do nothing", async () => {
    const opened = await open({}, LINKS);
    const inner = await opened.inner();
    await inner.evaluate("window.kept = true");
    const pages = opened.page.context().pages().length;
    await inner.click("#refused");
    await inner.click("#button");
    await inner.click("#away");
    await inner.click("#away", { modifiers: ["Control"] });
    await inner.click("#away", { button: "middle" });
    expect(await scroll(inner)).toBe(0);
    expect(await inner.evaluate(() => location.hash)).toBe("");
    expect(await inner.evaluate("window.kept")).toBe(true);
    expect(opened.page.context().pages()).toHaveLength(pages);
    expect(opened.complaints).toEqual([]);
  });
});

describe("the room of a view", () => {
  test.each<[string, Record<string, unknown>, number]>([
    ["480 px where the host sets no bound", {}, 480],
    ["the host's fixed height", { containerDimensions: { height: 400, width: 500 } }, 400],
    ["the host's maximum", { containerDimensions: { maxHeight: 300 } }, 300],
    ["480 px below a generous maximum", { containerDimensions: { maxHeight: 5000 } }, 480],
    [
      "what the device leaves of it",
      {
        containerDimensions: { height: 400 },
        safeAreaInsets: { top: 20, right: 5, bottom: 30, left: 7 },
      },
      350,
    ],
  ])("is %s", async (_, hostContext, height) => {
    const opened = await open({ hostContext });
    await opened.inner();
    const box = await opened.shell().locator("iframe").boundingBox();
    expect(box?.height).toBe(height);
    const insets = "safeAreaInsets" in hostContext;
    await expect.poll(() => heights(opened)).toEqual([insets ? 400 : height]);
    if (insets) expect(box).toMatchObject({ x: 24 + 7, y: 24 + 20, width: 768 - 48 - 12 });
  });

  test("is reported on change only", async () => {
    const opened = await open({ hostContext: { containerDimensions: { height: 400 } } });
    const inner = await opened.inner();
    await expect.poll(() => heights(opened)).toEqual([400]);
    await changeContext(opened, { theme: "dark" });
    await expect.poll(() => style(inner, "html", "color-scheme")).toBe("dark");
    await changeContext(opened, { containerDimensions: { height: 250 } });
    await expect.poll(() => heights(opened)).toEqual([400, 250]);
  });

  test("follows the edges that a device covers, while the view is open", async () => {
    const opened = await open({ hostContext: { containerDimensions: { height: 400 } } });
    const inner = await opened.inner();
    await inner.evaluate("window.kept = true");
    const frame = opened.shell().locator("iframe");
    const full = { x: 24, y: 24, width: 720, height: 400 };
    expect(await frame.boundingBox()).toEqual(full);
    const turn = async (safeAreaInsets: object, box: object) => {
      await changeContext(opened, { safeAreaInsets });
      await expect.poll(() => frame.boundingBox()).toEqual(box);
    };
    // A phone in a hand, turned, and laid on a table.
    await turn(
      { top: 47, right: 0, bottom: 34, left: 0 },
      { x: 24, y: 71, width: 720, height: 319 },
    );
    await turn(
      { top: 0, right: 47, bottom: 21, left: 47 },
      { x: 71, y: 24, width: 626, height: 379 },
    );
    await turn({ top: 0, right: 0, bottom: 0, left: 0 }, full);
    expect(await inner.evaluate("window.kept")).toBe(true);
    expect(await heights(opened)).toEqual([400]);
    expect(opened.complaints).toEqual([]);
  });
});

describe("a person who asked for less motion", () => {
  const MOVING = `<style>p { animation: slide 1s infinite }
    @keyframes slide { to { translate: 9px } }
    @media (prefers-reduced-motion: reduce) { p { animation: none } }</style>`;
  test.each([
    ["without reads", undefined],
    ["with reads", READS],
  ])(
    "is known to the view, from the first and when they change their mind, %s",
    async (_, reads) => {
      const opened = await open({}, MOVING + PAGE, reads);
      const inner = await opened.inner();
      const motion = () =>
        inner.evaluate(() => ({
          reduced: matchMedia("(prefers-reduced-motion: reduce)").matches,
          running: document.getAnimations().length,
        }));
      expect(await motion()).toEqual({ reduced: false, running: 1 });
      await opened.page.emulateMedia({ reducedMotion: "reduce" });
      await expect.poll(motion).toEqual({ reduced: true, running: 0 });
      await opened.remount("reload");
      await expect
        .poll(async () => (await opened.inner()).evaluate("document.getAnimations().length"))
        .toBe(0);
      await opened.page.emulateMedia({ reducedMotion: "no-preference" });
      const again = await opened.inner();
      await expect.poll(() => again.evaluate(() => document.getAnimations().length)).toBe(1);
    },
  );
});

describe("full screen", () => {
  const context = { displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"] };

  test("is offered by one small button, entered and left", async () => {
    const asked: unknown[] = [];
    const opened = await stage.open(
      { hostContext: { theme: "light", ...context }, result: results.viewResult(PAGE) },
      (method, params) => {
        asked.push([method, params]);
        return Promise.resolve(params);
      },
    );
    await opened.inner();
    const button = opened.shell().getByRole("button");
    expect(await button.getAttribute("aria-label")).toBe("Full screen");
    await opened.picture("fullscreen-offered");
    await button.click();
    await opened.shell().getByLabel("Leave full screen").waitFor();
    await opened.page.evaluate(() => {
      const frame = document.querySelector("iframe");
      if (frame) frame.style.height = "600px";
    });
    await opened.picture("fullscreen-entered");
    await expect
      .poll(async () => (await opened.shell().locator("iframe").boundingBox())?.height)
      .toBe(572);
    await button.click();
    await opened.shell().getByLabel("Full screen", { exact: true }).waitFor();
    expect(asked).toEqual([
      ["ui/request-display-mode", { mode: "fullscreen" }],
      ["ui/request-display-mode", { mode: "inline" }],
    ]);
    expect(await heights(opened)).toEqual([508]);
    expect(opened.complaints).toEqual([]);
  });

  test("is not offered where the host has none, nor beside words", async () => {
    const plain = await open({ hostContext: { availableDisplayModes: ["inline", "pip"] } });
    await plain.inner();
    expect(await plain.shell().getByRole("button").count()).toBe(0);
    const failed = await stage.open({ hostContext: context, result: results.failedResult });
    await failed.shell().waitForSelector("[role=status]");
    expect(await failed.shell().getByRole("button").count()).toBe(0);
  });
});

test("a host that says everything wrong still gets its view", async () => {
  const opened = await open({
    hostCapabilities: { serverTools: true, logging: null, sandbox: "strict" },
    hostContext: {
      theme: "system",
      locale: null,
      timeZone: 7,
      displayMode: "sidebar",
      availableDisplayModes: ["inline", "sidebar", null],
      containerDimensions: { height: "100%", maxHeight: null },
      safeAreaInsets: { top: 4 },
      styles: { variables: { "--not-a-name": "red", "--color-text-primary": 7 }, css: null },
      toolInfo: { id: null, tool: { name: "execute_code" } },
      platform: "fridge",
    },
  });
  expect(await (await opened.inner()).textContent("h1")).toBe("Title");
  await expect.poll(() => heights(opened)).toEqual([484]);
  expect(opened.complaints).toEqual([]);
});
