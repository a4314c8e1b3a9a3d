import { afterEach, describe, expect, test } from "vitest";
import type { CallTool } from "../../shell/src/bridge.ts";
import { readFailure } from "../../shell/src/failures.ts";
import { InnerFrame } from "../../shell/src/frame.ts";
import type { Push, Theme } from "../../shell/src/messages.ts";
import { sendFrom } from "./support/host.ts";

const theme: Theme = { scheme: "light", variables: {} };
const READS = { page: { address: "git.log" } };
const GONE = readFailure("reads_unavailable", "gone");

const callTool: CallTool = () => Promise.resolve({ ok: true, value: 1 });

const frames: InnerFrame[] = [];
function render(reads?: typeof READS) {
  const frame = new InnerFrame(document, { html: "<p>", ...(reads && { reads }) }, theme, callTool);
  frames.push(frame);
  document.body.append(frame.element);
  const pushes: Push[] = [];
  const inner = frame.element.contentWindow;
  if (!inner) throw new Error("the frame has no window");
  inner.postMessage = (push: Push) => void pushes.push(push);
  const name = /"render":"([^"]+)"/.exec(frame.element.srcdoc)?.[1];
  return { frame, inner, pushes, name };
}
afterEach(() => {
  for (const frame of frames.splice(0)) frame.close(GONE);
  document.body.replaceChildren();
});

interface FakePort {
  onmessage: unknown;
  closed: boolean;
}

/** Offers ports as a document would. */
function offerPorts(source: unknown, data: unknown, count = 1): FakePort[] {
  const ports = Array.from({ length: count }, () => {
    const port = { onmessage: null, closed: false, postMessage() {}, close: () => {} };
    port.close = () => {
      port.closed = true;
    };
    return port;
  });
  sendFrom(source, data, ports as unknown as MessagePort[]);
  return ports;
}

/** Offers ports and tells whether the shell serves one. */
const taken = (source: unknown, data: unknown, count?: number): boolean =>
  offerPorts(source, data, count).some(({ onmessage }) => onmessage !== null);

/** The source, the message and the number of ports that an attacker sends. */
type Attack = (own: {
  inner: Window;
  name: string | undefined;
}) => readonly [unknown, unknown, number?];

describe("V4: the port of a render", () => {
  test("is taken from the frame's own window, once", () => {
    const { inner, name } = render(READS);
    const offer = { type: "connecta/port", render: name };
    expect(taken(inner, offer)).toBe(true);
    expect(taken(inner, offer)).toBe(false);
  });

  test.each<[string, Attack]>([
    ["another window", ({ name }) => [window, { type: "connecta/port", render: name }]],
    ["no window", ({ name }) => [null, { type: "connecta/port", render: name }]],
    ["a guessed render", ({ inner }) => [inner, { type: "connecta/port", render: "guess" }]],
    ["no render", ({ inner }) => [inner, { type: "connecta/port" }]],
    ["another message", ({ inner, name }) => [inner, { type: "port", render: name }]],
    ["text", ({ inner }) => [inner, "connecta/port"]],
    ["nothing", ({ inner }) => [inner, null]],
    ["two ports", ({ inner, name }) => [inner, { type: "connecta/port", render: name }, 2]],
    ["no port", ({ inner, name }) => [inner, { type: "connecta/port", render: name }, 0]],
  ])("is not taken with %s, and the right one still is", (_, attack) => {
    const { inner, name } = render(READS);
    const [source, data, count] = attack({ inner, name });
    expect(taken(source, data, count)).toBe(false);
    expect(taken(inner, { type: "connecta/port", render: name })).toBe(true);
  });

  test("of one render does not serve another", () => {
    const first = render(READS);
    const second = render(READS);
    expect(first.name).not.toBe(second.name);
    expect(taken(second.inner, { type: "connecta/port", render: first.name })).toBe(false);
    expect(taken(first.inner, { type: "connecta/port", render: second.name })).toBe(false);
  });

  test("of a plain payload does not exist", () => {
    const { inner, name } = render();
    expect(name).toBeUndefined();
    expect(taken(inner, { type: "connecta/port", render: "" })).toBe(false);
    expect(taken(inner, { type: "connecta/port" })).toBe(false);
  });
});

describe("V9: the reads of a render end", () => {
  const load = (frame: InnerFrame) => frame.element.dispatchEvent(new Event("load"));

  test("at the second load of a document that had its port, not at the first", () => {
    const { frame, inner, pushes, name } = render(READS);
    load(frame);
    offerPorts(inner, { type: "connecta/port", render: name });
    load(frame);
    expect(pushes).toEqual([]);
    load(frame);
    expect(pushes).toMatchObject([
      { type: "connecta/closed", error: { code: "reads_unavailable" } },
    ]);
    expect(taken(inner, { type: "connecta/port", render: name })).toBe(false);
  });

  test("when the document is loaded again and offers another port", () => {
    const { inner, pushes, name } = render(READS);
    const offer = { type: "connecta/port", render: name };
    const [first] = offerPorts(inner, offer);
    expect(taken(inner, offer)).toBe(false);
    expect(first?.closed).toBe(true);
    expect(pushes).toMatchObject([
      { type: "connecta/closed", error: { code: "reads_unavailable" } },
    ]);
  });

  test("for every document that is loaded later", () => {
    const { frame, pushes } = render(READS);
    frame.close(GONE);
    load(frame);
    const told = { type: "connecta/closed", error: GONE };
    expect(pushes).toEqual([told, told]);
  });

  test("when they are closed, and so does their port", () => {
    const { frame, inner, pushes, name } = render(READS);
    const [port] = offerPorts(inner, { type: "connecta/port", render: name });
    expect(port).toMatchObject({ onmessage: expect.any(Function), closed: false });
    frame.close(GONE);
    expect(port?.closed).toBe(true);
    expect(pushes).toEqual([{ type: "connecta/closed", error: GONE }]);
  });
});

test("a theme goes to any view, with reads or without, and is all that goes to a plain one", () => {
  const dark: Theme = { scheme: "dark", variables: { "--font-sans": "Inter" } };
  for (const reads of [undefined, READS]) {
    const { frame, pushes } = render(reads);
    frame.setTheme(dark);
    expect(pushes).toEqual([{ type: "connecta/theme", theme: dark }]);
  }
  const { frame, pushes } = render();
  frame.close(GONE);
  expect(pushes).toEqual([]);
});

test("a theme that came while nobody listened is told again to every document that loads", () => {
  for (const reads of [undefined, READS]) {
    const { frame, pushes } = render(reads);
    const load = () => frame.element.dispatchEvent(new Event("load"));
    load();
    expect(pushes).toEqual([]);
    const dark: Theme = { scheme: "dark", variables: {} };
    frame.setTheme(dark);
    load();
    const told = { type: "connecta/theme", theme: dark };
    expect(pushes).toEqual([told, told]);
  }
});
