import type { Browser } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, mustBeQuiet, openWatched, OUT, type Watched } from "./support/chromium.ts";
import { appears, eventually, HostPage } from "./support/page.ts";
import { coloursOf } from "./support/picture.ts";
import { servePreview, type PreviewSite } from "./support/preview.ts";

let browser: Browser;
let site: PreviewSite;
let watched: Watched | undefined;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchChromium(), servePreview()]);
});

afterEach(async () => {
  await watched?.page.context().close();
  if (watched) mustBeQuiet(watched);
  watched = undefined;
});

afterAll(async () => {
  await browser.close();
  await site.close();
});

async function preview(fixture: string, options = {}): Promise<HostPage> {
  watched = await openWatched(browser, options);
  const host = new HostPage(watched.page);
  await watched.page.clock.install();
  await host.open(site.origin, `/?fixture=${fixture}`);
  return host;
}

type Box = { x: number; y: number; width: number; height: number };
const inside = ({ x, y, width, height }: Box, edge: number): Box => ({
  x: x + edge,
  y: y + edge,
  width: width - 2 * edge,
  height: height - 2 * edge,
});
const methods = async (host: HostPage) => (await host.rows()).map(({ method }) => method);

test("waiting: a quiet line appears once a moment has passed, and the view follows", async () => {
  const host = await preview("waiting");
  await eventually(() => methods(host)).toContain("ui/notifications/tool-input");
  await host.page.clock.runFor(400);
  expect(await appears(host.shell.getByText("Running…"))).toBe(true);
  await host.page.screenshot({ path: `${OUT}state-waiting.png` });
  await host.page.getByRole("button", { name: "Late result" }).click();
  expect(await appears(host.view.getByRole("heading", { name: "Three services" }))).toBe(true);
});

test("view: the program's page stands in the inner frame", async () => {
  const host = await preview("view");
  expect(await appears(host.view.getByText("212 ms"))).toBe(true);
  await host.page.screenshot({ path: `${OUT}state-view.png` });
});

test("view with reads: a click reads once and draws what came", async () => {
  const host = await preview("view-with-reads", { colorScheme: "dark" });
  await host.view.getByRole("button", { name: "Next page" }).click();
  expect(await appears(host.view.getByText("Page 2, read at"))).toBe(true);
  const reads = (await host.rows()).filter(({ marks }) => marks === "read");
  expect(reads.map(({ method }) => method)).toEqual(["tools/call", "result of tools/call"]);
  expect(reads[0]?.about).toContain("call_tool fixture.measure");
  await host.page.screenshot({ path: `${OUT}state-view-with-reads.png` });
});

test("no view: the shell asks for the smallest height", async () => {
  const host = await preview("no-view");
  await eventually(() => methods(host)).toContain("ui/notifications/size-changed");
  const last = (await host.rows()).findLast(({ method }) => method.endsWith("size-changed"));
  expect(last?.about).toBe("– × 1");
});

test.each([
  ["failed", "program_error"],
  ["cancelled", "cancelled"],
  ["malformed", "html is not a non-empty string"],
  ["view-dropped", "host"],
])("%s: one line says so", async (fixture, words) => {
  const host = await preview(fixture);
  expect(await appears(host.shell.getByText(words))).toBe(true);
  await host.page.screenshot({ path: `${OUT}state-${fixture}.png` });
});

test("a failure that the view tells is told beside it only when another tab is open", async () => {
  const host = await preview("failed");
  expect(await appears(host.shell.getByText("program_error"))).toBe(true);
  const told = host.alert.getByText("program_error");
  expect(await told.isVisible()).toBe(false);
  expect(await host.alert.getByRole("button", { name: /^Go to line 3/ }).isVisible()).toBe(true);
  await host.page.getByRole("tab", { name: "Result" }).click();
  expect(await told.isVisible()).toBe(true);
});

test("reads unavailable: the view stands and its read says why it fails", async () => {
  const host = await preview("reads-unavailable");
  await host.view.getByRole("button", { name: "Next page" }).click();
  expect(await appears(host.view.getByText("reads_unavailable"))).toBe(true);
  expect((await methods(host)).filter((method) => method.includes("tools/call"))).toEqual([]);
});

test("no result: a minute of silence is explained, and a late result still counts", async () => {
  const host = await preview("no-result");
  await eventually(() => methods(host)).toContain("ui/notifications/initialized");
  await host.page.clock.runFor(59_000);
  const before = await host.shell.locator("body").innerText();
  await host.page.clock.runFor(2_000);
  await eventually(() => host.shell.locator("body").innerText()).not.toBe(before);
  await host.page.screenshot({ path: `${OUT}state-no-result.png` });
  await host.page.getByRole("button", { name: "Late result" }).click();
  expect(await appears(host.view.getByRole("heading", { name: "Three services" }))).toBe(true);
});

test("torn down: the shell answers at once and its frame goes", async () => {
  const host = await preview("view-with-reads");
  expect(await appears(host.view.getByRole("button", { name: "Next page" }))).toBe(true);
  await host.page.getByRole("button", { name: "Tear down" }).click();
  await eventually(() => host.page.locator("iframe").count()).toBe(0);
  expect(await methods(host)).toContain("result of ui/resource-teardown");
});

test("torn down, but still in the page: the view stays, and its reads say why they have ended", async () => {
  const host = await preview("torn-down");
  await host.view.getByRole("button", { name: "Next page" }).click();
  const words = "reads_unavailable: The host has closed this view.";
  expect(await appears(host.view.getByText(words))).toBe(true);
  await eventually(() => methods(host)).toContain("result of ui/resource-teardown");
  expect((await methods(host)).filter((method) => method.includes("tools/call"))).toEqual([]);
});

describe.each([
  ["a window", 1280],
  ["a narrow window", 768],
])("hosts that take no size from their views, in %s", (_, width) => {
  const HEIGHTS = { "400px": 400, "650px": 650, "800px": 800, "75vh": 1200 };
  const open = (fixture: string) => preview(fixture, { viewport: { width, height: 1600 } });
  /** The view's frame as it is painted, but for its edges: the page around it has round corners. */
  async function look(host: HostPage) {
    const frame = host.page.locator(".stage iframe");
    const box = (await frame.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const clip = inside(box, 12);
    const scrolls = await host.shell.locator("html").evaluate((root) => {
      const { scrollHeight, clientHeight, scrollWidth, clientWidth } = root;
      return scrollHeight > clientHeight || scrollWidth > clientWidth;
    });
    const colours = await coloursOf(host.page, await host.page.screenshot({ clip }));
    return { height: box.height, scrolls, colours };
  }

  test.each(Object.entries(HEIGHTS))(
    "U14 no view at %s: not a trace of it",
    async (css, height) => {
      const host = await open(`no-view-${css}`);
      await eventually(() => methods(host)).toContain("ui/notifications/size-changed");
      await eventually(async () => (await look(host)).colours.length).toBe(1);
      expect(await look(host)).toMatchObject({ height, scrolls: false });
    },
  );

  test("a view fills the frame, and the same look sees it", async () => {
    const host = await open("view-400px");
    expect(await appears(host.view.getByText("212 ms"))).toBe(true);
    const { height, scrolls, colours } = await look(host);
    expect([height, scrolls]).toEqual([400, false]);
    expect(colours.length).toBeGreaterThan(8);
    const view = host.shell.locator("iframe");
    await eventually(async () => (await view.boundingBox())?.height).toBe(372);
  });
});

test("U14 no view where the frame is as high as its container: not a trace of it", async () => {
  const host = await preview("no-view");
  await eventually(() => methods(host)).toContain("ui/notifications/size-changed");
  const frame = host.page.locator(".stage iframe");
  const panel = await host.page.locator("#panel-view").boundingBox();
  expect(await frame.boundingBox()).toEqual(panel);
  const clip = inside(panel ?? { x: 0, y: 0, width: 0, height: 0 }, 12);
  const colours = await coloursOf(host.page, await host.page.screenshot({ clip }));
  expect(colours).toHaveLength(1);
});

test("U14 no view where the host gives as much room as is asked for: one pixel", async () => {
  const host = await preview("no-view", { viewport: { width: 768, height: 800 } });
  const frame = host.page.locator(".stage iframe");
  await eventually(async () => (await frame.boundingBox())?.height).toBe(1);
  const panels = await host.page.locator(".panels").boundingBox();
  expect(panels?.height).toBe(1);
});

test("the theme switch reaches the view while it is open", async () => {
  const host = await preview("view", { colorScheme: "light" });
  const heading = host.view.getByRole("heading");
  const colour = () => heading.evaluate((element) => getComputedStyle(element).color);
  expect(await appears(heading)).toBe(true);
  const light = await colour();
  await host.page.getByRole("group", { name: "Theme" }).getByText("Dark").click();
  await eventually(colour).not.toBe(light);
  const changed = (await host.rows()).findLast(({ method }) => method.endsWith("context-changed"));
  expect(changed?.about).toContain("theme");
});

test("on a narrow screen nothing overflows and the view is as high as it asked to be", async () => {
  const host = await preview("view", { viewport: { width: 360, height: 740 } });
  expect(await appears(host.view.getByRole("heading"))).toBe(true);
  const wide = await host.page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(360);
  const last = (await host.rows()).findLast(({ method }) => method.endsWith("size-changed"));
  const height = await host.page.locator("iframe").evaluate((frame) => frame.clientHeight);
  expect(last?.about).toBe(`– × ${height}`);
  await host.page.screenshot({ path: `${OUT}state-narrow.png`, fullPage: true });
});

test("fullscreen covers the page but for a strip with Close, and Escape ends it", async () => {
  const host = await preview("view");
  expect(await appears(host.view.getByRole("heading"))).toBe(true);
  await host.shell.getByRole("button").click();
  await eventually(() => host.page.locator("iframe").boundingBox()).toMatchObject({
    x: 0,
    y: 36,
    width: 1280,
    height: 764,
  });
  const close = host.page.getByRole("button", { name: "Close" });
  const box = await close.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(36);
  const changed = (await host.rows()).findLast(({ method }) => method.endsWith("context-changed"));
  expect(changed?.about).toContain("containerDimensions");
  await host.page.screenshot({ path: `${OUT}state-fullscreen.png` });
  await close.press("Escape");
  await eventually(
    async () => (await host.page.locator("iframe").boundingBox())?.width,
  ).toBeLessThan(900);
});
