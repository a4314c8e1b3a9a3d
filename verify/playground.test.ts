import { expect, test } from "vitest";
import { OUT } from "./support/chromium.ts";
import { appears, eventually } from "./support/page.ts";
import { startServer } from "./support/server.ts";
import { hostSession } from "./support/session.ts";

const session = hostSession(20);
const picture = (name: string) => session.host.page.screenshot({ path: `${OUT}${name}.png` });

test("the page can be used from the keyboard", async () => {
  const editor = session.host.page.getByRole("textbox", { name: "Program" });
  await editor.fill("async () => 'typed'");
  await editor.press("Control+Enter");
  expect(await appears(session.host.panel("Result").getByText('"typed"'))).toBe(true);
  await session.host.page.getByRole("tab", { name: "Result" }).focus();
  await session.host.page.keyboard.press("ArrowLeft");
  expect(
    await session.host.page.getByRole("tab", { name: "View" }).getAttribute("aria-selected"),
  ).toBe("true");
  const row = session.host.page.locator("#messages tr").first();
  await row.focus();
  await session.host.page.keyboard.press("ArrowDown");
  expect(
    await appears(session.host.page.getByLabel("Message", { exact: true }).getByText("jsonrpc")),
  ).toBe(true);
});

test("edits outlast another choice and a reload, until Reset", async () => {
  const editor = session.host.page.getByRole("textbox", { name: "Program" });
  const picker = session.host.page.getByLabel("Example");
  const edited = session.host.page.getByText("edited", { exact: true });
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
  await session.host.page.reload();
  expect(await appears(edited)).toBe(true);
  expect(await editor.innerText()).toBe("async () => 'mine'");
  await session.host.page.getByRole("button", { name: "Reset" }).click();
  expect(await editor.innerText()).toContain("// System dashboard");
  expect(await edited.isVisible()).toBe(false);
});

test("a browser that keeps nothing leaves the page working", async () => {
  await session.host.page.addInitScript(() => {
    for (const area of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(window, area, {
        get: () => {
          throw new DOMException("forbidden", "SecurityError");
        },
      });
    }
  });
  await session.host.page.reload();
  await session.host.runProgram("async () => 'without storage'");
  expect(await appears(session.host.panel("Result").getByText('"without storage"'))).toBe(true);
  await session.host.page.getByLabel("Example").selectOption({ label: "Weekdays" });
  await session.host.page.getByLabel("Example").selectOption({ label: "System dashboard" });
  const editor = session.host.page.getByRole("textbox", { name: "Program" });
  expect(await editor.innerText()).toBe("async () => 'without storage'");
});

test("output that stands beside another program says whose it is", async () => {
  await session.host.runExample("Commit list");
  const said = session.host.page.getByText("Output of “Commit list”.");
  expect(await said.count()).toBe(0);
  await session.host.page.getByLabel("Example").selectOption({ label: "Weekdays" });
  expect(await said.isVisible()).toBe(true);
  await picture("earlier");
  await session.host.run();
  expect(await said.count()).toBe(0);
});

test("a run that is stopped says so on every tab", async () => {
  await session.host.page
    .getByRole("textbox", { name: "Program" })
    .fill("async () => { for (;;); }");
  await session.host.page.getByRole("button", { name: "Run" }).click();
  await session.host.page.getByRole("button", { name: "Stop" }).click();
  for (const name of ["Result", "Emitted", "Logs", "Diagnostics"]) {
    await session.host.page.getByRole("tab", { name }).click();
    expect(await appears(session.host.panel(name).getByText(/^Stopped/))).toBe(true);
  }
});

test("the inspector shows whole rows, says when none matches, and closes a message on Escape", async () => {
  await session.host.runExample("Commit list");
  await eventually(async () => (await session.host.rows()).length).toBe(8);
  await session.host.run();
  await eventually(async () => (await session.host.rows()).length).toBeGreaterThan(16);
  const list = session.host.page.locator("#message-list");
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
  const detail = session.host.page.getByRole("region", { name: "Message", exact: true });
  await session.host.page.locator("#messages tr").last().click();
  expect(await detail.isVisible()).toBe(true);
  await detail.getByText("jsonrpc").click();
  await session.host.page.keyboard.press("Escape");
  expect(await detail.isVisible()).toBe(false);
  const focused = await session.host.page.evaluate(() => document.activeElement?.tagName);
  expect(focused).toBe("TR");
  await session.host.page.getByLabel("Filter messages").fill("no such message");
  expect(await appears(session.host.page.getByText(/^None of the \d+ messages matches\.$/))).toBe(
    true,
  );
});

test("a server that is gone is named in words", async () => {
  const gone = await startServer(session.repository.directory);
  await session.host.open(gone.origin);
  expect(await appears(session.host.page.getByText("7 tools"))).toBe(true);
  await gone.stop();
  await session.host.run();
  expect(await appears(session.host.alert.getByText("The server does not answer."))).toBe(true);
  expect(await session.host.alert.innerText()).toContain("connecta dev");
  await session.host.alert.getByRole("button", { name: "Try again" }).click();
  expect(await appears(session.host.alert.getByText("The server does not answer."))).toBe(true);
  expect(await session.host.page.getByRole("status").getByText("No result").isVisible()).toBe(true);
  await picture("server-gone");
  // The browser itself reports the refused connection.
  expect(session.watched.complaints.every((text) => text.includes("ERR_CONNECTION"))).toBe(true);
  session.watched.complaints.length = 0;
});
