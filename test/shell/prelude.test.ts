import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ReadRequest } from "../../shell/src/messages.ts";
import prelude from "../../shell/src/prelude.ts";
import readsPrelude from "../../shell/src/reads-prelude.ts";
import { sendFrom } from "./support/host.ts";

interface Connecta {
  read(name: string, args?: unknown): Promise<unknown>;
  readonly reads: readonly string[];
}

/** What the shell's window was sent. */
let sent: { data: unknown; ports: MessagePort[] }[];
let shell: object;
beforeEach(() => {
  sent = [];
  shell = {
    postMessage: (data: unknown, _target: string, ports: MessagePort[] = []) =>
      void sent.push({ data, ports }),
  };
  Object.defineProperty(window, "parent", { value: shell, configurable: true });
  document.head.replaceChildren();
});
afterEach(() => {
  document.body.replaceChildren();
});

describe("the prelude of every view", () => {
  test("says nothing to the shell", () => {
    prelude({ scheme: "dark", variables: {} });
    expect(sent).toEqual([]);
  });

  test("takes themes from the shell's window and hides them from the program", () => {
    prelude({ scheme: "dark", variables: { "--font-sans": "Inter" } });
    const rule = () => document.head.querySelector("style")?.sheet?.cssRules[0] as CSSStyleRule;
    expect(rule().style.getPropertyValue("color-scheme")).toBe("dark");
    expect(rule().style.getPropertyValue("--font-sans")).toBe("Inter");
    const heard: unknown[] = [];
    const hear = ({ data }: MessageEvent) => void heard.push(data);
    window.addEventListener("message", hear);
    const push = { type: "connecta/theme", theme: { scheme: "light", variables: {} } };
    sendFrom(window, push);
    expect(rule().style.getPropertyValue("color-scheme")).toBe("dark");
    sendFrom(shell, push);
    expect(rule().style.getPropertyValue("color-scheme")).toBe("light");
    expect(rule().style.getPropertyValue("--font-sans")).toBe("");
    expect(heard).toEqual([push]);
    window.removeEventListener("message", hear);
  });

  test.each([
    ["https://example.invalid/", true],
    ["#", true],
    ["#part", true],
    ["page.html", true],
    [" javascript:void 0", false],
  ])("a click on a link to %s is held back: %s", (href, held) => {
    prelude({ scheme: "light", variables: {} });
    document.body.innerHTML = `<a><span>x</span></a>`;
    document.querySelector("a")?.setAttribute("href", href);
    const click = new MouseEvent("click", { bubbles: true, cancelable: true, composed: true });
    document.querySelector("span")?.dispatchEvent(click);
    expect(click.defaultPrevented).toBe(held);
  });
});

/** The connecta of one document; it cannot be redefined, so each test has its own window object. */
function install() {
  const properties: PropertyDescriptorMap = {};
  const { defineProperty } = Object;
  Object.defineProperty = ((target: object, key: string, descriptor: PropertyDescriptor) => {
    if (target !== window || key !== "connecta") return defineProperty(target, key, descriptor);
    properties[key] = descriptor;
    return target;
  }) as typeof Object.defineProperty;
  try {
    readsPrelude({ names: ["page", "detail"], render: "r1" });
  } finally {
    Object.defineProperty = defineProperty;
  }
  const [offer] = sent;
  const [port] = offer?.ports ?? [];
  if (!port) throw new Error("no port was offered");
  const asked: ReadRequest[] = [];
  port.onmessage = ({ data }) => void asked.push(data);
  const connecta = properties.connecta?.value as Connecta;
  return { offer, port, asked, connecta, descriptor: properties.connecta };
}

describe("the prelude of a view with reads", () => {
  test("offers one port, for this render", () => {
    const { offer, port } = install();
    expect(sent).toHaveLength(1);
    expect(offer?.data).toEqual({ type: "connecta/port", render: "r1" });
    port.close();
  });

  test("installs read and the names, which nobody can change", () => {
    const { connecta, port, descriptor } = install();
    expect(Object.keys(connecta)).toEqual(["read", "reads"]);
    expect(connecta.reads).toEqual(["page", "detail"]);
    expect(Object.isFrozen(connecta) && Object.isFrozen(connecta.reads)).toBe(true);
    expect(descriptor?.writable ?? false).toBe(false);
    port.close();
  });

  test("V11: settles each read by its id, a refusal as an Error with code and retryable", async () => {
    const { connecta, port, asked } = install();
    const settled = Promise.allSettled([
      connecta.read("page", { cursor: 1 }),
      connecta.read("detail"),
    ]);
    await expect.poll(() => asked).toHaveLength(2);
    expect(asked).toEqual([
      { id: 1, name: "page", args: { cursor: 1 } },
      { id: 2, name: "detail", args: undefined },
    ]);
    port.postMessage({
      id: 2,
      ok: false,
      error: { code: "timeout", message: "slow", retryable: true },
    });
    port.postMessage({ id: 1, ok: true, value: [1] });
    const [first, second] = await settled;
    expect(first).toEqual({ status: "fulfilled", value: [1] });
    const { reason } = second as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(Error);
    expect(reason).toMatchObject({ code: "timeout", message: "slow", retryable: true });
    port.close();
  });

  test("refuses arguments that cannot be sent at all", async () => {
    const { connecta, port } = install();
    await expect(connecta.read("page", { go() {} })).rejects.toMatchObject({
      code: "invalid_args",
    });
    port.close();
  });

  test("V9: ends the reads of a document that was replaced in its window", async () => {
    const { connecta, port, asked } = install();
    const root = document.documentElement;
    root.remove();
    document.append(document.createElement("html"));
    try {
      await expect(connecta.read("page")).rejects.toMatchObject({ code: "reads_unavailable" });
      expect(asked).toEqual([]);
    } finally {
      document.documentElement.remove();
      document.append(root);
    }
    port.close();
  });

  test("rejects everything once the shell has closed the reads", async () => {
    const { connecta, port } = install();
    const waiting = connecta.read("page").catch((reason: unknown) => reason);
    const error = { code: "reads_unavailable", message: "gone", retryable: false };
    sendFrom(window, { type: "connecta/closed", error: { ...error, code: "forged" } });
    sendFrom(shell, { type: "connecta/closed", error });
    expect(await waiting).toMatchObject(error);
    await expect(connecta.read("page")).rejects.toMatchObject(error);
    port.close();
  });
});
