import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Browser } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openHostPage, type HostPage as Served } from "../server/node/host-page.ts";
import {
  launchChromium,
  mustBeQuiet,
  openWatched,
  OUT,
  ROOT,
  type Watched,
} from "./support/chromium.ts";
import { appears, eventually, HostPage } from "./support/page.ts";

let browser: Browser;
let server: Server;
let served: Served | undefined;
let origin: string;
let watched: Watched | undefined;

beforeAll(async () => {
  browser = await launchChromium();
  // Nothing but the page's own files: the preview needs no MCP endpoint.
  server = createServer(
    getRequestListener(async (request) => {
      const answer = await served?.fetch(request);
      return answer ?? new Response("not found", { status: 404 });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  origin = `http://127.0.0.1:${address.port}`;
  const opened = await openHostPage({
    directory: `${ROOT}dist/host`,
    port: address.port,
    hostname: "127.0.0.1",
  });
  if (!opened.ok) throw new Error(opened.failure.message);
  served = opened.value;
});

afterEach(async () => {
  await watched?.page.context().close();
  if (watched) mustBeQuiet(watched);
  watched = undefined;
});

afterAll(async () => {
  await browser.close();
  await served?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function preview(fixture: string, options = {}): Promise<HostPage> {
  watched = await openWatched(browser, options);
  const host = new HostPage(watched.page);
  await watched.page.clock.install();
  await host.open(origin, `/?fixture=${fixture}`);
  return host;
}

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
