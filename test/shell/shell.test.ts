import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startShell } from "../../shell/src/shell.ts";
import { fakeHost, sendFrom, type FakeHost } from "./support/host.ts";

let host: FakeHost;
beforeEach(() => {
  vi.useFakeTimers();
  document.head.replaceChildren();
  document.body.replaceChildren();
  host = fakeHost();
  startShell(host.window);
});
afterEach(() => {
  host.close();
  vi.useRealTimers();
});

const HOST = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "host", version: "1" },
  hostCapabilities: { serverTools: {} },
  hostContext: { theme: "light" },
};
const settle = () => vi.advanceTimersByTimeAsync(0);
const connect = async (result: object = HOST) => {
  await settle();
  host.answer("ui/initialize", { result });
  await settle();
};
const deliver = async (result: unknown) => {
  host.notify("ui/notifications/tool-result", result);
  await settle();
};
const text = (value: unknown) => [{ type: "text", text: JSON.stringify(value) }];
const success = (envelope: object, payload?: unknown) => ({
  content: text(envelope),
  structuredContent: envelope,
  ...(payload === undefined ? {} : { _meta: { "connecta/ui": payload } }),
});
const VIEW = success({ result: 1, ui: true }, { html: "<p>view</p>" });
const FAILED = {
  isError: true,
  ...success({ error: { code: "timeout", message: "It took too long.", retryable: true } }),
};
const main = () => document.querySelector("main");
const words = () => main()?.textContent;
const frame = () => main()?.querySelector("iframe");

describe("the handshake", () => {
  test("introduces the shell, then says initialized, and nothing else", async () => {
    await connect();
    expect(host.received.map(({ method }) => method)).toEqual([
      "ui/initialize",
      "ui/notifications/initialized",
    ]);
    expect(host.received[0]?.params).toEqual({
      appInfo: { name: "connecta program view", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: "2026-01-26",
    });
  });

  test("that the host refuses is told in words, and initialized is not said", async () => {
    await settle();
    host.answer("ui/initialize", { error: { code: -32601, message: "Method not found" } });
    await settle();
    expect(words()).toBe("The host did not start this view.");
    expect(host.of("ui/notifications/initialized")).toEqual([]);
  });
});

describe("waiting", () => {
  test("shows nothing for 300 ms, then one quiet line", async () => {
    await connect();
    await vi.advanceTimersByTimeAsync(299);
    expect(words()).toBe("");
    await vi.advanceTimersByTimeAsync(1);
    expect(words()).toBe("Running\u2026");
  });

  test("for a minute says that nothing came, and a late result still counts", async () => {
    await connect();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(words()).toBe("Running\u2026");
    await vi.advanceTimersByTimeAsync(1);
    expect(words()).toBe("No result has arrived yet.");
    await deliver(VIEW);
    expect(frame()).not.toBeNull();
  });

  test("starts over with each sign of life", async () => {
    await connect();
    await vi.advanceTimersByTimeAsync(50_000);
    host.notify("ui/notifications/tool-input", { arguments: { code: "x" } });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(words()).toBe("Running\u2026");
    await vi.advanceTimersByTimeAsync(1);
    expect(words()).toBe("No result has arrived yet.");
  });

  test("needs no handshake: a host that never answers still shows its result", async () => {
    await deliver(VIEW);
    expect(frame()?.getAttribute("srcdoc")).toContain("<p>view</p>");
    await vi.advanceTimersByTimeAsync(120_000);
    expect(frame()).not.toBeNull();
  });
});

describe("each result is one state", () => {
  test.each<[string, unknown, string, string]>([
    ["a failure", FAILED, "failed", "timeoutIt took too long."],
    ["no view", success({ result: [] }), "none", ""],
    [
      "a view that the host took away",
      success({ result: 1, ui: true }),
      "dropped",
      "This host removed the view; the text answer stands.",
    ],
    [
      "a malformed payload",
      success({ result: 1, ui: true }, { html: "<p>", reads: {} }),
      "malformed",
      "This view cannot be shown: reads names no read.",
    ],
    [
      "an error on the way",
      { isError: true, content: [{ type: "text", text: "Not allowed" }] },
      "refused",
      "Not allowed",
    ],
  ])("%s", async (_, result, state, expected) => {
    await connect();
    await deliver(result);
    expect(main()?.dataset.state).toBe(state);
    expect(words()).toBe(expected);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(words()).toBe(expected);
  });

  test("a cancellation, with the host's reason as text", async () => {
    await connect();
    host.notify("ui/notifications/tool-cancelled", { reason: "<b>stop</b>" });
    await settle();
    expect(words()).toBe("Cancelled: <b>stop</b>");
    expect(main()?.querySelector("b")).toBeNull();
  });

  test("U6: a view in a frame that may run scripts and nothing else", async () => {
    await connect();
    await deliver(VIEW);
    expect(frame()?.getAttribute("sandbox")).toBe("allow-scripts");
    expect(frame()?.getAttribute("referrerpolicy")).toBe("no-referrer");
    expect(frame()?.getAttribute("title")).toBe("Program view");
    expect(frame()?.hasAttribute("allow")).toBe(false);
    expect(frame()?.hasAttribute("src")).toBe(false);
  });
});

describe("after a view nothing changes", () => {
  test.each<[string, () => void]>([
    ["the same result again", () => host.notify("ui/notifications/tool-result", VIEW)],
    [
      "another view",
      () =>
        host.notify(
          "ui/notifications/tool-result",
          success({ result: 2, ui: true }, { html: "<p>other</p>" }),
        ),
    ],
    ["a failure", () => host.notify("ui/notifications/tool-result", FAILED)],
    [
      "a result without a view",
      () => host.notify("ui/notifications/tool-result", success({ result: 1 })),
    ],
    ["a cancellation", () => host.notify("ui/notifications/tool-cancelled", {})],
    ["a new input", () => host.notify("ui/notifications/tool-input", { arguments: {} })],
  ])("by %s", async (_, disturb) => {
    await connect();
    await deliver(VIEW);
    const shown = frame();
    disturb();
    await vi.advanceTimersByTimeAsync(61_000);
    expect(frame()).toBe(shown);
    expect(main()?.children).toHaveLength(1);
  });
});

describe("before a view the better result wins", () => {
  test("a view replaces words of any kind", async () => {
    await connect();
    host.notify("ui/notifications/tool-cancelled", {});
    await deliver(FAILED);
    await deliver(success({ result: 1, ui: true }, { html: 7 }));
    expect(main()?.dataset.state).toBe("malformed");
    await deliver(VIEW);
    expect(frame()).not.toBeNull();
  });

  test.each([
    ["failed", FAILED, success({ result: 1 })],
    ["none", success({ result: 1 }), FAILED],
    ["none", success({ result: 1 }), success({ result: 1, ui: true })],
  ])("the first of equals stays: %s", async (state, first, second) => {
    await connect();
    await deliver(first);
    await deliver(second);
    expect(main()?.dataset.state).toBe(state);
  });

  test("a result of another call is inert", async () => {
    await connect();
    await deliver({ isError: true, ...success({ ok: false, error: { code: "timeout" } }) });
    await deliver(success({ ok: true, data: { result: 1 } }));
    await vi.advanceTimersByTimeAsync(300);
    expect(words()).toBe("Running\u2026");
  });

  test("our failure replaces an error that may have been of another call", async () => {
    await connect();
    await deliver({ isError: true, content: [{ type: "text", text: "Not allowed" }] });
    await deliver(FAILED);
    expect(main()?.dataset.state).toBe("failed");
  });
});

describe("a read before the host has shaken hands", () => {
  const LIVE = success(
    { result: 1, ui: true },
    { html: "<p>live</p>", reads: { now: { address: "system.load" } } },
  );
  interface Reply {
    readonly ok: boolean;
    readonly value?: unknown;
    readonly error?: { readonly code: string };
  }

  /** Shows a view at once, takes its port as its document would, and reads. */
  async function readEarly() {
    await deliver(LIVE);
    const render = /"render":"([^"]+)"/.exec(frame()?.getAttribute("srcdoc") ?? "")?.[1];
    const replies: Reply[] = [];
    const port = {
      onmessage: undefined as ((event: object) => void) | undefined,
      postMessage: (reply: Reply) => replies.push(reply),
    };
    const offer = { type: "connecta/port", render };
    sendFrom(frame()?.contentWindow, offer, [port as unknown as MessagePort]);
    const read = (id: number) => port.onmessage?.({ data: { id, name: "now" } });
    read(1);
    await settle();
    return { replies, read };
  }

  test("waits, and is served once the host says that it runs tools", async () => {
    const { replies } = await readEarly();
    await vi.advanceTimersByTimeAsync(9_000);
    expect([replies, host.of("tools/call")]).toEqual([[], []]);
    await connect();
    expect(host.of("tools/call")).toHaveLength(1);
    host.answer("tools/call", { result: success({ ok: true, data: 7 }) });
    await settle();
    expect(replies).toEqual([{ id: 1, ok: true, value: 7 }]);
  });

  test("waits no longer than ten seconds in all, and later ones not at all", async () => {
    const { replies, read } = await readEarly();
    await vi.advanceTimersByTimeAsync(10_000);
    const error = { code: "reads_unavailable", retryable: false };
    expect(replies).toMatchObject([{ id: 1, ok: false, error }]);
    read(2);
    await settle();
    expect(replies).toMatchObject([{ id: 1 }, { id: 2, ok: false, error }]);
    expect(host.of("tools/call")).toEqual([]);
  });

  test("is served again by a host that shakes hands late", async () => {
    const { read } = await readEarly();
    await vi.advanceTimersByTimeAsync(30_000);
    await connect();
    read(2);
    await settle();
    expect(host.of("tools/call")).toHaveLength(1);
  });

  test("is refused at once by a host that then refuses the handshake, or runs no tools", async () => {
    const { replies, read } = await readEarly();
    await connect({ ...HOST, hostCapabilities: {} });
    read(2);
    await settle();
    const error = { code: "reads_unavailable" };
    expect(replies).toMatchObject([{ error }, { error }]);
  });
});

describe("teardown", () => {
  test("is answered at once, and what comes later is inert", async () => {
    await connect();
    host.send({ jsonrpc: "2.0", id: "bye", method: "ui/resource-teardown" });
    await settle();
    expect(host.received.at(-1)).toEqual({ jsonrpc: "2.0", id: "bye", result: {} });
    await deliver(VIEW);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(frame()).toBeNull();
    expect(words()).toBe("");
  });
});

describe("sizes", () => {
  test("are not sent before the host has shaken hands, nor while nothing is drawn", async () => {
    await deliver(success({ result: 1 }));
    expect(host.of("ui/notifications/size-changed")).toEqual([]);
    await connect();
    expect(host.of("ui/notifications/size-changed")).toMatchObject([{ params: { height: 1 } }]);
  });
});
