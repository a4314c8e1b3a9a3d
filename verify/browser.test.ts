import { hostname } from "node:os";
import type { Frame } from "playwright";
import { expect, test } from "vitest";
import { OUT } from "./support/chromium.ts";
import { appears, eventually, type Row } from "./support/page.ts";
import { hostSession } from "./support/session.ts";

const COMMITS = 40;

const session = hostSession(COMMITS);
const picture = (name: string) => session.host.page.screenshot({ path: `${OUT}${name}.png` });
const between = ({ direction, method }: Row) => `${direction}: ${method}`;

test("the page says what it is connected to", async () => {
  const status = session.host.page.getByRole("contentinfo", { name: "Status" });
  expect(await appears(status.getByText("7 tools"))).toBe(true);
  expect(await appears(status.getByText(/^MCP \d{4}-\d{2}-\d{2}$/))).toBe(true);
});

test("the handshake comes in the order of the specification, and the host waits for it", async () => {
  await session.host.runExample("Commit list");
  expect(await appears(session.host.view.getByRole("heading", { name: "Commits" }))).toBe(true);
  await eventually(async () => (await session.host.rows()).map(between)).toEqual([
    "view → host: ui/notifications/sandbox-proxy-ready",
    "host → view: ui/notifications/sandbox-resource-ready",
    "view → host: ui/initialize",
    "host → view: result of ui/initialize",
    "view → host: ui/notifications/initialized",
    "host → view: ui/notifications/tool-input",
    "host → view: ui/notifications/tool-result",
    "view → host: ui/notifications/size-changed",
  ]);
});

test("the dashboard shows this machine, and Refresh brings one new reading over one call", async () => {
  await session.host.runExample("System dashboard");
  expect(await appears(session.host.view.getByRole("heading", { name: hostname() }))).toBe(true);
  // Without its own clock the view reads only when it is told to.
  await session.host.view.getByRole("switch", { name: "Live" }).setChecked(false);
  const refresh = session.host.view.getByRole("button", { name: "Refresh" });
  await eventually(() => refresh.isEnabled()).toBe(true);
  const curve = session.host.view.getByRole("img", {
    name: /^CPU use over the last \d+ readings$/,
  });
  const readings = async () => Number(/\d+/.exec((await curve.getAttribute("aria-label")) ?? ""));
  const before = await readings();
  const reads = await session.host.readsDuring(async () => {
    await refresh.click();
    await eventually(readings).toBe(before + 1);
  });
  expect(reads).toBe(1);
  await picture("dashboard-light");
  await session.host.page.getByRole("group", { name: "Theme" }).getByText("Dark").click();
  await eventually(async () => (await session.host.rows()).at(-1)?.about).toContain("theme");
  await picture("dashboard-dark");
});

test("the commit list turns to the next page over one call", async () => {
  await session.host.runExample("Commit list");
  expect(await appears(session.host.view.getByRole("row", { name: "Change 40 " }))).toBe(true);
  const reads = await session.host.readsDuring(async () => {
    await session.host.view.getByRole("button", { name: "Next page" }).click();
    expect(await appears(session.host.view.getByRole("row", { name: "Change 28 " }))).toBe(true);
  });
  expect(reads).toBe(1);
  expect(await session.host.view.getByRole("row", { name: "Change 40 " }).count()).toBe(0);
  await picture("commits");
});

test("one commit opens with its files over one call", async () => {
  await session.host.runExample("Commit detail");
  const commit = session.host.view.getByRole("button", { name: "Change 38 " });
  expect(await appears(commit)).toBe(true);
  const reads = await session.host.readsDuring(async () => {
    await commit.click();
    expect(await appears(session.host.view.getByRole("heading", { name: "Change 38" }))).toBe(true);
  });
  expect(reads).toBe(1);
  expect(await session.host.view.getByRole("heading", { name: "Change 40" }).count()).toBe(0);
  await picture("commit-detail");
});

test("emitted blocks are shown as what they are", async () => {
  await session.host.runExample("Activity image");
  const panel = session.host.panel("Emitted");
  expect(await appears(panel.getByText(`When the last ${COMMITS} commits were made`))).toBe(true);
  const image = panel.getByRole("img");
  await eventually(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(
    384,
  );
  await picture("emitted");
});

test("a reduction without a view shows its envelope, its log and, when asked, its diagnostics", async () => {
  await session.host.page.getByRole("checkbox", { name: "Diagnostics" }).check();
  await session.host.runExample("Weekdays");
  expect(await appears(session.host.panel("Result").getByText("byWeekday"))).toBe(true);
  await picture("reduction");
  await session.host.page.getByRole("tab", { name: "Logs" }).click();
  expect(await appears(session.host.panel("Logs").getByText(`read ${COMMITS} commits`))).toBe(true);
  await session.host.page.getByRole("tab", { name: "Diagnostics" }).click();
  await eventually(() =>
    session.host.panel("Diagnostics").locator(".json-key").count(),
  ).toBeGreaterThan(2);
});

test("a refused write fails in words, and only a person's press on the page carries it out", async () => {
  await session.host.runExample("Refused write");
  const code = "destructive_tool_requires_approval";
  expect(await appears(session.host.alert.getByText(code))).toBe(true);
  await picture("refused");
  await session.host.page.getByRole("tab", { name: "View" }).click();
  expect(await appears(session.host.shell.getByText(code))).toBe(true);
  expect(session.host.calls().map(({ name }) => name)).toEqual(["execute_code"]);
  await session.host.alert.getByRole("button", { name: "Approve git.create_tag" }).click();
  expect(await appears(session.host.panel("Result").getByText("from-a-program").first())).toBe(
    true,
  );
  expect(session.host.calls().map(({ name }) => name)).toEqual([
    "execute_code",
    "call_destructive_tool",
  ]);
});

test("a new run takes the old view down first", async () => {
  await session.host.runExample("Commit list");
  expect(await appears(session.host.view.getByRole("heading", { name: "Commits" }))).toBe(true);
  await session.host.run();
  expect(await appears(session.host.view.getByRole("heading", { name: "Commits" }))).toBe(true);
  const rows = (await session.host.rows()).map(between);
  const asked = rows.indexOf("host → view: ui/resource-teardown");
  const answered = rows.indexOf("view → host: result of ui/resource-teardown");
  const again = rows.lastIndexOf("view → host: ui/initialize");
  expect(asked).toBeGreaterThan(0);
  expect(answered).toBeGreaterThan(asked);
  expect(again).toBeGreaterThan(answered);
  expect(await session.host.page.locator("iframe").count()).toBe(1);
});

test("a broken program and a view that throws leave the page and the server working", async () => {
  await session.host.runProgram("async () => {");
  expect(await appears(session.host.alert.getByText("invalid_program"))).toBe(true);
  expect(await session.host.alert.locator("pre").innerText()).toBe(
    `async () => {\n${" ".repeat(13)}^`,
  );
  await picture("syntax-error");
  await session.host.alert.getByRole("button", { name: /^Go to line 1/ }).click();
  await session.host.runProgram(
    `async () => { await connecta.ui("<p>before</p><script>throw new Error('from the view')</" + "script>"); return 1; }`,
  );
  expect(await appears(session.host.view.getByText("before"))).toBe(true);
  // The control of every other test: such an error does reach the list of complaints.
  await eventually(() => session.watched.complaints).toEqual(["uncaught: from the view"]);
  session.watched.complaints.length = 0;
  await session.host.runExample("Commit list");
  expect(await appears(session.host.view.getByRole("heading", { name: "Commits" }))).toBe(true);
});

test("a forbidden request of a view is stopped and reported", async () => {
  await openReader();
  const inner = await innerFrame();
  const outcome = await inner.evaluate(() =>
    fetch("/health").then(
      () => "answered",
      () => "stopped",
    ),
  );
  expect(outcome).toBe("stopped");
  await eventually(() => session.watched.complaints.join()).toContain("violation: connect-src");
  session.watched.complaints.length = 0;
});

/** A view with one declared read, and a button for every way of using it. */
const READER = `async () => {
  await connecta.ui("<p>reader</p>", {
    reads: { page: { address: "git.log", fixedArgs: { limit: 2 }, viewArgs: ["cursor", "path"] } },
  });
  return "shown";
}`;

async function openReader(): Promise<void> {
  await session.host.runProgram(READER);
  await session.host.view.getByText("reader").waitFor();
}

async function frameAt(depth: 2 | 3): Promise<Frame> {
  const selector = Array(depth).fill("iframe");
  let frame: Frame | null = session.host.page.mainFrame();
  for (const part of selector) {
    const element: Awaited<ReturnType<Frame["waitForSelector"]>> =
      await frame.waitForSelector(part);
    frame = await element.contentFrame();
    if (frame === null) throw new Error("a frame has no document");
  }
  return frame;
}

const innerFrame = () => frameAt(3);
const shellFrame = () => frameAt(2);

/** Reads from within the program's frame; gives the value's length or the error's code. */
async function read(name: string, args?: Record<string, unknown>): Promise<unknown> {
  const inner = await innerFrame();
  return inner.evaluate(
    async ([wanted, given]) => {
      const { connecta } = window as unknown as {
        connecta: { read(name: string, args?: unknown): Promise<{ commits: unknown[] }> };
      };
      try {
        return (await connecta.read(wanted, given)).commits.length;
      } catch (error) {
        return (error as { code?: string }).code;
      }
    },
    [name, args] as const,
  );
}

test("a fabricated read name reaches nobody, the declared one does", async () => {
  await openReader();
  const refused = await session.host.readsDuring(async () => {
    expect(await read("git.log")).toBe("unknown_read");
    expect(await read("constructor")).toBe("unknown_read");
  });
  expect(refused).toBe(0);
  const allowed = await session.host.readsDuring(async () => {
    expect(await read("page")).toBe(2);
  });
  expect(allowed).toBe(1);
});

test("an undeclared argument reaches nobody, a declared one does", async () => {
  await openReader();
  const refused = await session.host.readsDuring(async () => {
    expect(await read("page", { ref: "HEAD~1" })).toBe("invalid_args");
    expect(await read("page", { limit: 100 })).toBe("invalid_args");
  });
  expect(refused).toBe(0);
  const allowed = await session.host.readsDuring(async () => {
    await read("page", { path: "notes.txt" });
  });
  expect(allowed).toBe(1);
  expect(session.host.calls().at(-1)?.arguments).toMatchObject({
    address: "git.log",
    args: { limit: 2, path: "notes.txt" },
    resultMode: "value",
  });
});

const RAW = {
  jsonrpc: "2.0",
  id: "raw-1",
  method: "tools/call",
  params: { name: "call_tool", arguments: { address: "git.branches", args: {} } },
};

const rawCalls = () =>
  session.host.calls().filter(({ arguments: { address } }) => address === "git.branches").length;

test("raw JSON-RPC from the inner frame reaches nobody, the same from the shell's frame does", async () => {
  await openReader();
  const inner = await innerFrame();
  await inner.evaluate((message) => {
    for (const target of [parent, parent.parent, parent.parent.parent, top]) {
      target?.postMessage(message, "*");
    }
  }, RAW);
  // A read takes the same way afterwards: when it is back, the messages before it were handled.
  expect(await read("page")).toBe(2);
  expect(rawCalls()).toBe(0);
  const rows = await session.host.rows();
  const seen = rows.filter(({ method }) => method === "tools/call");
  expect(seen.map(({ marks }) => marks).toSorted()).toEqual(["ignored", "read"]);
  const shell = await shellFrame();
  await shell.evaluate((message) => parent.postMessage(message, "*"), RAW);
  await eventually(rawCalls).toBe(1);
});

test("the host refuses a view every tool that is not for views, and carries out the one that is", async () => {
  await openReader();
  const shell = await shellFrame();
  const answerTo = (name: string) =>
    shell.evaluate(
      (tool) =>
        new Promise<string>((resolve) => {
          addEventListener("message", ({ data }) => {
            if (data?.id === tool) resolve("error" in data ? data.error.message : "answered");
          });
          const params = { name: tool, arguments: { address: "git.branches", args: {} } };
          parent.postMessage({ jsonrpc: "2.0", id: tool, method: "tools/call", params }, "*");
        }),
      name,
    );
  const before = session.host.calls().length;
  for (const name of ["execute_code", "call_destructive_tool", "search_tools", "no_such_tool"]) {
    expect(await answerTo(name)).toContain(`The host refuses this call: ${name}`);
  }
  expect(session.host.calls().length).toBe(before);
  expect(await answerTo("call_tool")).toBe("answered");
  expect(session.host.calls().length).toBe(before + 1);
  const refused = (await session.host.rows()).filter(
    ({ marks, method }) => marks.includes("refused") && method === "tools/call",
  );
  expect(refused.length).toBe(4);
  await picture("refusals");
});
