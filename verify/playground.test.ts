import type { Browser } from "playwright";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium, mustBeQuiet, openWatched, OUT, type Watched } from "./support/chromium.ts";
import { appears, eventually, HostPage } from "./support/page.ts";
import { makeRepository, type Repository } from "./support/repository.ts";
import { startServer, type Running } from "./support/server.ts";

let browser: Browser;
let repository: Repository;
let server: Running;
let watched: Watched;
let host: HostPage;

beforeAll(async () => {
  repository = makeRepository(20);
  [browser, server] = await Promise.all([launchChromium(), startServer(repository.directory)]);
});

beforeEach(async () => {
  watched = await openWatched(browser);
  host = new HostPage(watched.page);
  await host.open(server.origin);
});

afterEach(async () => {
  await watched.page.context().close();
  mustBeQuiet(watched);
});

afterAll(async () => {
  try {
    await browser.close();
    await server.stop();
  } finally {
    repository.remove();
  }
});

const picture = (name: string) => host.page.screenshot({ path: `${OUT}${name}.png` });

test("the page can be used from the keyboard", async () => {
  const editor = host.page.getByRole("textbox", { name: "Program" });
  await editor.fill("async () => 'typed'");
  await editor.press("Control+Enter");
  expect(await appears(host.panel("Result").getByText('"typed"'))).toBe(true);
  await host.page.getByRole("tab", { name: "Result" }).focus();
  await host.page.keyboard.press("ArrowLeft");
  expect(await host.page.getByRole("tab", { name: "View" }).getAttribute("aria-selected")).toBe(
    "true",
  );
  const row = host.page.locator("#messages tr").first();
  await row.focus();
  await host.page.keyboard.press("ArrowDown");
  expect(await appears(host.page.getByLabel("Message", { exact: true }).getByText("jsonrpc"))).toBe(
    true,
  );
});

test("edits outlast another choice and a reload, until Reset", async () => {
  const editor = host.page.getByRole("textbox", { name: "Program" });
  const picker = host.page.getByLabel("Example");
  const edited = host.page.getByText("edited", { exact: true });
  expect(await edited.isVisible()).toBe(false);
  await editor.fill("async () => 'mine'");
  expect(await edited.isVisible()).toBe(true);
  await picture("edited");
  await picker.selectOption({ label: "Weekdays" });
  expect(await edited.isVisible()).toBe(false);
  await editor.press("Control+z");
  expect(await editor.innerText()).toContain("// Weekdays");
  await picker.selectOption({ label: "System dashboard" });
  expect(await editor.innerText()).toBe("async () => 'mine'");
  await host.page.reload();
  expect(await appears(edited)).toBe(true);
  expect(await editor.innerText()).toBe("async () => 'mine'");
  await host.page.getByRole("button", { name: "Reset" }).click();
  expect(await editor.innerText()).toContain("// System dashboard");
  expect(await edited.isVisible()).toBe(false);
});

test("a browser that keeps nothing leaves the page working", async () => {
  await host.page.addInitScript(() => {
    for (const area of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(window, area, {
        get: () => {
          throw new DOMException("forbidden", "SecurityError");
        },
      });
    }
  });
  await host.page.reload();
  await host.runProgram("async () => 'without storage'");
  expect(await appears(host.panel("Result").getByText('"without storage"'))).toBe(true);
  await host.page.getByLabel("Example").selectOption({ label: "Weekdays" });
  await host.page.getByLabel("Example").selectOption({ label: "System dashboard" });
  const editor = host.page.getByRole("textbox", { name: "Program" });
  expect(await editor.innerText()).toBe("async () => 'without storage'");
});

test("output that stands beside another program says whose it is", async () => {
  await host.runExample("Commit list");
  const said = host.page.getByText("Output of “Commit list”.");
  expect(await said.count()).toBe(0);
  await host.page.getByLabel("Example").selectOption({ label: "Weekdays" });
  expect(await said.isVisible()).toBe(true);
  await picture("earlier");
  await host.run();
  expect(await said.count()).toBe(0);
});

test("a run that is stopped says so on every tab", async () => {
  await host.page.getByRole("textbox", { name: "Program" }).fill("async () => { for (;;); }");
  await host.page.getByRole("button", { name: "Run" }).click();
  await host.page.getByRole("button", { name: "Stop" }).click();
  for (const name of ["Result", "Emitted", "Logs", "Diagnostics"]) {
    await host.page.getByRole("tab", { name }).click();
    expect(await appears(host.panel(name).getByText(/^Stopped/))).toBe(true);
  }
});

test("the inspector shows whole rows, says when none matches, and closes a message on Escape", async () => {
  await host.runExample("Commit list");
  await eventually(async () => (await host.rows()).length).toBe(8);
  await host.run();
  await eventually(async () => (await host.rows()).length).toBeGreaterThan(16);
  const list = host.page.locator("#message-list");
  const cut = () =>
    list.evaluate((element) => {
      const top = element.querySelector("thead")?.getBoundingClientRect().bottom ?? 0;
      const rows = [...element.querySelectorAll("tbody tr")];
      return rows.filter((row) => {
        const box = row.getBoundingClientRect();
        return box.top < top - 1 && box.bottom > top + 1;
      }).length;
    });
  expect(await list.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  expect(await cut()).toBe(0);
  const detail = host.page.getByRole("region", { name: "Message", exact: true });
  await host.page.locator("#messages tr").last().click();
  expect(await detail.isVisible()).toBe(true);
  await detail.getByText("jsonrpc").click();
  await host.page.keyboard.press("Escape");
  expect(await detail.isVisible()).toBe(false);
  const focused = await host.page.evaluate(() => document.activeElement?.tagName);
  expect(focused).toBe("TR");
  await host.page.getByLabel("Filter messages").fill("no such message");
  expect(await appears(host.page.getByText(/^None of the \d+ messages matches\.$/))).toBe(true);
});

test("a server that is gone is named in words", async () => {
  const gone = await startServer(repository.directory);
  await host.open(gone.origin);
  expect(await appears(host.page.getByText("7 tools"))).toBe(true);
  await gone.stop();
  await host.run();
  expect(await appears(host.alert.getByText("The server does not answer."))).toBe(true);
  expect(await host.alert.innerText()).toContain("connecta dev");
  await host.alert.getByRole("button", { name: "Try again" }).click();
  expect(await appears(host.alert.getByText("The server does not answer."))).toBe(true);
  expect(await host.page.getByRole("status").getByText("No result").isVisible()).toBe(true);
  await picture("server-gone");
  // The browser itself reports the refused connection.
  expect(watched.complaints.every((text) => text.includes("ERR_CONNECTION"))).toBe(true);
  watched.complaints.length = 0;
});
