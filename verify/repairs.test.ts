import {
  McpUiInitializeResultSchema,
  McpUiToolResultNotificationSchema,
} from "@modelcontextprotocol/ext-apps";
import { describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { heard, mustSee, seen, windClock } from "./shell/sight.ts";
import { type Opened } from "./shell/stage.ts";
import { landing, RUNNING, view, VIEW, useStage } from "./shell/usual.ts";

const stage = useStage();

async function read(opened: Opened): Promise<unknown> {
  const inner = await opened.inner();
  return inner.evaluate(`connecta.read("item", { id: 1 }).catch((error) => error.code)`);
}
const GREETING = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "host", version: "1" },
  hostCapabilities: { serverTools: {} },
};
const TOOL = { name: "execute_code", inputSchema: { type: "object" } };

/** The host's answer to the handshake, by hand. */
async function greet(opened: Opened, answer: object): Promise<void> {
  const passed = await opened.passed();
  const asked = passed.findLast(({ message }) => message.method === "ui/initialize");
  await opened.send({ jsonrpc: "2.0", id: asked?.message.id, ...answer });
}

describe("what the official schemas refuse of a host", () => {
  const REFUSED: [string, object][] = [
    ["an unknown style variable", { styles: { variables: { "--vscode-foreground": "red" } } }],
    ["a style variable that is no text", { styles: { variables: { "--font-sans": 12 } } }],
    ["the theme of the system", { theme: "system" }],
    ["no locale", { locale: null }],
    ["no time zone", { timeZone: null }],
    ["an unknown display mode", { displayMode: "sidebar" }],
    ["unknown display modes", { availableDisplayModes: ["inline", "sidebar"] }],
    ["a tool without inputSchema", { toolInfo: { tool: { name: "execute_code" } } }],
    ["a tool that is its name", { toolInfo: { tool: "execute_code" } }],
    ["an unknown platform", { platform: "fridge" }],
    ["edges in part", { safeAreaInsets: { top: 4 } }],
    ["no styles", { styles: null }],
  ];

  test.each(REFUSED)("%s: the view and its reads stand", async (_, context) => {
    // The control: without a repair the handshake fails, and with it the view.
    const refused = { ...GREETING, hostContext: context };
    const valid = { ...GREETING, hostContext: { theme: "light", toolInfo: { tool: TOOL } } };
    expect(McpUiInitializeResultSchema.safeParse(valid).success).toBe(true);
    expect(McpUiInitializeResultSchema.safeParse(refused).success).toBe(false);
    const opened = await stage().open({ hostContext: { ...context }, result: view }, landing);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    // Once more as a change, while the view is open.
    const method = "ui/notifications/host-context-changed";
    await opened.send({ jsonrpc: "2.0", method, params: context });
    await heard(opened);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["nothing", {}],
    ["a null", null],
    ["a word", "welcome"],
    ["a version as number", { ...GREETING, protocolVersion: 2026 }],
    ["a version of its own", { ...GREETING, protocolVersion: "2031-12-31" }],
    ["no name", { ...GREETING, hostInfo: null }],
    ["no capabilities and no context", { protocolVersion: "2026-01-26" }],
    ["context as a list", { ...GREETING, hostContext: [] }],
  ])("a handshake that says %s: the view stands", async (_, given) => {
    const opened = await stage().open({ initialize: "never" });
    await greet(opened, { result: given });
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    expect(opened.complaints).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["an unknown kind", { type: "hologram", url: "x" }],
    ["a kind without its fields", { type: "image" }],
    ["no kind", { text: "rows" }],
    ["a null", null],
    ["a word", "rows"],
  ])("%s among the blocks of a result: the view stands", async (_, block) => {
    const content = [...(view.content as unknown[]), block];
    const given = { ...view, content };
    const parsed = (params: unknown) =>
      McpUiToolResultNotificationSchema.safeParse({
        method: "ui/notifications/tool-result",
        params,
      }).success;
    expect([parsed(view), parsed(given)]).toEqual([true, false]);
    const opened = await stage().open({ result: given });
    await mustSee(opened, VIEW);
    // The envelope is found in its place too, where the host removed everything else.
    const stripped = await stage().open({ result: { content } });
    await mustSee(stripped, "line: This host removed the view; the text answer stands.");
    expect(opened.complaints).toEqual([]);
  });
});

describe("the handshake", () => {
  test("never answered: the view stands, and its reads say why there are none", async () => {
    const opened = await stage().open({ initialize: "never" });
    await windClock(opened);
    await mustSee(opened, RUNNING);
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    const waiting = read(opened);
    await opened.page.clock.runFor(11_000);
    expect(await waiting).toBe("reads_unavailable");
    expect(await opened.calls()).toEqual([]);
  });

  test("never answered, and nothing sent: a line of words after a minute", async () => {
    const opened = await stage().open({ initialize: "never" });
    await windClock(opened);
    await opened.page.clock.runFor(61_000);
    await mustSee(opened, "line: No result has arrived yet.");
    expect(opened.complaints).toEqual([]);
  });

  test("answered after an hour: the view follows the host, and its reads run", async () => {
    const opened = await stage().open({ initialize: "never" }, landing);
    await windClock(opened);
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    await opened.page.clock.fastForward(3_600_000);
    await greet(opened, { result: { ...GREETING, hostContext: { theme: "dark" } } });
    const inner = await opened.inner();
    const scheme = () =>
      inner.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await expect.poll(scheme).toBe("dark");
    expect(await read(opened)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });

  test("answered twice, differently: the first holds, and nothing breaks", async () => {
    const opened = await stage().open({ initialize: "never" }, landing);
    await greet(opened, { result: { ...GREETING, hostContext: { theme: "dark" } } });
    await greet(opened, { result: { ...GREETING, hostCapabilities: {}, hostContext: {} } });
    await greet(opened, { error: { code: -32000, message: "no after all" } });
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    const initialized = (await opened.passed()).filter(
      ({ message }) => message.method === "ui/notifications/initialized",
    );
    expect(initialized).toHaveLength(1);
    expect(opened.complaints).toEqual([]);
  });

  test("answered under its id as text: the view stands", async () => {
    const opened = await stage().open({ initialize: "never" }, landing);
    const [asked] = await opened.passed();
    const id = String(asked?.message.id);
    await opened.send({ jsonrpc: "2.0", id, result: GREETING });
    await opened.deliver(view);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
  });

  test("refused: a line of words, and never less than that when a result comes all the same", async () => {
    const opened = await stage().open({ initialize: "error" });
    await mustSee(opened, "line: The host did not start this view.");
    await opened.deliver(view);
    await opened.deliver(results.plainResult);
    await expect.poll(() => seen(opened)).toMatch(/^(?:view|line): \w/);
    expect(opened.complaints).toEqual([]);
  });
});
