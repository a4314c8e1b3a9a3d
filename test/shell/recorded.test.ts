import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startShell } from "../../shell/src/shell.ts";
import type { CallAnswer } from "../support/gateway.ts";
import { answerOf, HOSTILE, NAMES } from "./recorded/results.ts";
import { fakeHost, type FakeHost } from "./support/host.ts";

/*
 * What the shell shows of results as the real server gives them; `recorded/` says how they came to
 * be, and fails when the server answers otherwise.
 */
let host: FakeHost;
beforeEach(() => {
  vi.useFakeTimers();
  start();
});
afterEach(() => {
  host.close();
  vi.useRealTimers();
});

function start(): void {
  document.head.replaceChildren();
  document.body.replaceChildren();
  host = fakeHost();
  startShell(host.window);
}

const settle = () => vi.advanceTimersByTimeAsync(0);
async function connect(): Promise<void> {
  await settle();
  const result = {
    protocolVersion: "2026-01-26",
    hostInfo: { name: "host", version: "1" },
    hostCapabilities: { serverTools: {} },
    hostContext: {},
  };
  host.answer("ui/initialize", { result });
  await settle();
}
async function deliver(result: unknown): Promise<void> {
  host.notify("ui/notifications/tool-result", result);
  await settle();
}
const main = () => document.querySelector("main");
const shown = () => ({ state: main()?.dataset.state, words: main()?.textContent ?? "" });
const frame = () => main()?.querySelector("iframe") ?? undefined;
const names = (prefix: string) => NAMES.filter((name) => name.startsWith(prefix));

const DROPPED = "This host removed the view; the text answer stands.";

const VIEWS = names("a view");
const FAILED = names("failed");
const PROGRAMS = [...VIEWS, ...names("no view"), ...FAILED];

/** What the server said of a failure. */
const errorOf = (answer: CallAnswer) =>
  answer.structuredContent?.error as { readonly code: string; readonly message: string };

test("there are views, successes without one, failures and calls on record, and nothing else", () => {
  const calls = [...names("value"), ...names("call")];
  for (const some of [VIEWS, names("no view"), FAILED, calls])
    expect(some.length).toBeGreaterThan(3);
  expect([...PROGRAMS, ...calls]).toEqual(NAMES);
});

describe("a recorded result without a view is told in at most one line", () => {
  test.each(names("no view"))("U14: nothing at all of %s", async (name) => {
    await connect();
    await deliver(answerOf(name));
    expect(shown()).toEqual({ state: "none", words: "" });
    expect(main()?.childNodes).toHaveLength(0);
  });

  test.each(FAILED)("code and message of %s", async (name) => {
    await connect();
    await deliver(answerOf(name));
    const { code, message } = errorOf(answerOf(name));
    expect(name).toContain(code);
    expect(message).not.toBe("");
    expect(shown()).toEqual({ state: "failed", words: code + message });
    expect(frame()).toBeUndefined();
  });

  test("as here, word for word", async () => {
    await deliver(answerOf("failed: invalid_args"));
    expect(main()?.querySelector("code")?.textContent).toBe("invalid_args");
    expect(main()?.textContent).toBe(
      "invalid_argstickets.list refuses its arguments: cursor: expected integer.",
    );
  });

  test("and in words alone, whatever they hold", async () => {
    for (const name of ["failed: program_error", "failed: not_found"]) {
      await deliver(answerOf(name));
      expect(main()?.textContent).toContain(HOSTILE);
      expect([...(main()?.querySelectorAll("*") ?? [])].map(({ localName }) => localName)).toEqual([
        "p",
        "code",
      ]);
      start();
    }
  });
});

describe("a recorded view is shown as the program gave it", () => {
  const payload = (answer: CallAnswer) =>
    answer._meta?.["connecta/ui"] as { readonly html: string; readonly reads?: object };

  test.each(VIEWS)("%s", async (name) => {
    await connect();
    await deliver(answerOf(name));
    const { html, reads } = payload(answerOf(name));
    const text = frame()?.getAttribute("srcdoc") ?? "";
    expect(text.endsWith(html)).toBe(true);
    expect(text.slice(0, -html.length).includes("MessageChannel")).toBe(reads !== undefined);
    expect(shown()).toEqual({ state: "view", words: "" });
    expect(main()?.children).toHaveLength(1);
  });

  test("V4: its document names the reads and knows no address", async () => {
    await deliver(answerOf("a view with reads"));
    const text = frame()?.getAttribute("srcdoc") ?? "";
    expect(text).toContain('"names":["page","note"]');
    for (const secret of ["tickets.list", "tickets.note", "cursor"]) {
      expect(JSON.stringify(answerOf("a view with reads"))).toContain(secret);
      expect(text).not.toContain(secret);
    }
  });

  test("and its text stands in no document of ours, however hostile", async () => {
    await deliver(answerOf("a view of hostile text"));
    expect(frame()?.getAttribute("srcdoc")?.endsWith(HOSTILE)).toBe(true);
    expect(document.querySelectorAll("img, script")).toHaveLength(0);
  });
});

describe("hosts that take something away", () => {
  const without = (name: string, ...fields: (keyof CallAnswer)[]) =>
    Object.fromEntries(
      Object.entries(answerOf(name)).filter(([field]) => !fields.includes(field as "content")),
    );

  test.each(VIEWS)("the payload: %s is told to be gone", async (name) => {
    await deliver(without(name, "_meta"));
    expect(shown()).toEqual({ state: "dropped", words: DROPPED });
  });

  test.each(VIEWS)("payload and structure: %s is still told to be gone", async (name) => {
    await deliver(without(name, "_meta", "structuredContent"));
    expect(shown()).toEqual({ state: "dropped", words: DROPPED });
  });

  test.each(PROGRAMS)("the structure: %s means the same from its text", async (name) => {
    await deliver(answerOf(name));
    const whole = shown();
    host.close();
    start();
    await deliver(without(name, "structuredContent"));
    expect(shown()).toEqual(whole);
    expect(whole.state).toMatch(/^(view|none|failed)$/);
  });

  test.each(PROGRAMS)("the text: %s means the same from its structure", async (name) => {
    await deliver(answerOf(name));
    const whole = shown();
    host.close();
    start();
    await deliver(without(name, "content"));
    expect(shown()).toEqual(whole);
  });

  test("a payload that was damaged on the way is told to be so", async () => {
    const answer = answerOf("a view with reads");
    await deliver({ ...answer, _meta: { "connecta/ui": { html: "<p>", reads: ["page"] } } });
    expect(shown()).toEqual({
      state: "malformed",
      words: "This view cannot be shown: reads is not an object.",
    });
  });
});

describe("repeats and strays are inert", () => {
  test.each(VIEWS)("after %s, every other recorded result and a cancellation", async (name) => {
    await connect();
    await deliver(answerOf(name));
    const view = frame();
    const before = { document: document.documentElement.outerHTML, sent: host.received.length };
    for (const other of NAMES) await deliver(answerOf(other));
    host.notify("ui/notifications/tool-cancelled", { reason: "late" });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(frame()).toBe(view);
    expect({ document: document.documentElement.outerHTML, sent: host.received.length }).toEqual(
      before,
    );
  });

  test.each([...names("no view"), ...FAILED])("the same again, of %s", async (name) => {
    await connect();
    await deliver(answerOf(name));
    const [line, sent] = [main()?.firstChild, host.received.length];
    await deliver(answerOf(name));
    expect(main()?.firstChild).toBe(line);
    expect(host.received).toHaveLength(sent);
  });

  const FOREIGN = [...names("value"), ...names("call")];
  /** Nothing in it says whose error it is: it is shown until something better comes. */
  const ANYBODYS = "call: an MCP tool's error";

  test.each(FOREIGN.filter((name) => name !== ANYBODYS))(
    "an answer of another call: %s",
    async (name) => {
      await connect();
      await deliver(answerOf(name));
      expect(shown()).toEqual({ state: undefined, words: "" });
      await deliver(answerOf("a view"));
      expect(shown().state).toBe("view");
    },
  );

  test("an error without an envelope stands until the real result comes", async () => {
    await connect();
    await deliver(answerOf(ANYBODYS));
    expect(shown()).toEqual({ state: "refused", words: "The mailbox is full." });
    await deliver(answerOf("no view"));
    expect(shown()).toEqual({ state: "none", words: "" });
  });
});
