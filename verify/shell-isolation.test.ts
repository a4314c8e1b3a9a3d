import type { Frame } from "playwright";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { Stage, type Opened } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const READS = { item: { address: "shop.item", viewArgs: ["id"] } };
const PAGE = `<p>shop</p><a href="#far" id="near">down</a><div style="height:2000px"></div><h2 id="far">Far</h2>`;

type Connecta = { read(name: string, args?: unknown): Promise<unknown> };

function open(html = PAGE, host: Parameters<Stage["open"]>[0] = {}): Promise<Opened> {
  const answer = () => Promise.resolve(results.valueResult("landed"));
  return stage.open({ result: results.viewResult(html, READS), ...host }, answer);
}

/** One ordinary read; when it is back, every message sent before it has been handled. */
const read = (inner: Frame) =>
  inner.evaluate(() =>
    (window as unknown as { connecta: Connecta }).connecta
      .read("item", { id: 1 })
      .catch((error: { code: string }) => error.code),
  );

/** Runs an attack in the inner page and waits until the frame has loaded what came of it. */
async function replaceBy(opened: Opened, inner: Frame, attack: string): Promise<void> {
  await opened.shell().evaluate(() => {
    const frame = document.querySelector("iframe");
    const loaded = new Promise((resolve) => {
      frame?.addEventListener("load", () => resolve(0), { once: true });
    });
    Object.assign(window, { loaded });
  });
  await inner.evaluate(`setTimeout(() => { ${attack} }); 0`);
  await opened.shell().evaluate("window.loaded");
}

describe("the bridge dies with its document", () => {
  test.each([
    ["location.reload()", `location.reload()`],
    ["about:blank", `location.href = "about:blank"`],
    ["a blocked page", `location.href = "data:text/html,<p>new"`],
  ])("after %s no read reaches the host", async (_, attack) => {
    const opened = await open();
    const inner = await opened.inner();
    expect(await read(inner)).toBe("landed");
    await inner.evaluate("window.old = connecta.read; 0");
    await replaceBy(opened, inner, attack);
    const later = await (
      await opened.inner()
    ).evaluate(`(async () => {
      const read = window.connecta?.read ?? window.old;
      return read ? read("item", { id: 2 }).then(() => "landed", (error) => error.code) : "no connecta";
    })()`);
    expect(["reads_unavailable", "no connecta"]).toContain(later);
    expect(await opened.calls()).toHaveLength(1);
  });

  test("a document that is loaded again and again is told so each time", async () => {
    const opened = await open();
    await opened.inner();
    for (let round = 0; round < 3; round++) {
      const inner = await opened.inner();
      expect(await read(inner)).toBe(round === 0 ? "landed" : "reads_unavailable");
      await replaceBy(opened, inner, "location.reload()");
    }
    expect(await opened.calls()).toHaveLength(1);
  });

  test("a port offered later, or twice, or with a guessed render is not taken", async () => {
    const opened = await open();
    const inner = await opened.inner();
    await inner.evaluate(() => {
      for (const render of ["", "guess", undefined]) {
        const { port1, port2 } = new MessageChannel();
        window.parent.postMessage({ type: "connecta/port", render }, "*", [port2]);
        port1.postMessage({ id: 1, name: "item", args: { id: "forged" } });
      }
    });
    expect(await read(inner)).toBe("landed");
    expect(await opened.calls()).toMatchObject([{ arguments: { args: { id: 1 } } }]);
  });

  test("the page does not hold what ties its port to this render", async () => {
    const opened = await open();
    const text = await (await opened.inner()).evaluate(() => document.documentElement.outerHTML);
    expect(text).toContain("shop");
    expect(text).not.toContain("render");
    expect(text).not.toContain("connecta/port");
  });
});

describe("a port in hostile hands", () => {
  /** Takes the program's own port out of the bridge, as a page can that patches its prototypes. */
  const steal = `(() => {
    const post = MessagePort.prototype.postMessage;
    let port;
    MessagePort.prototype.postMessage = function (...args) { port = this; return post.apply(this, args); };
    connecta.read("item", { id: 0 });
    MessagePort.prototype.postMessage = post;
    window.port = port;
  })()`;

  test("carries nothing but declared reads", async () => {
    const opened = await open();
    const inner = await opened.inner();
    await inner.evaluate(steal);
    await inner.evaluate(`
      const rpc = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "execute_code" } };
      for (const message of [rpc, null, 7, "text", [], { id: "x" }, { id: 1.5, name: "item" },
        { id: 6, name: "__proto__" }, { id: 7, name: { toString: "item" } },
        { id: 8, name: "item", args: { address: "shop.delete" } }]) port.postMessage(message);
    `);
    expect(await read(inner)).toBe("landed");
    const calls = (await opened.calls()) as { name: string; arguments: unknown }[];
    expect(calls.map(({ name }) => name)).toEqual(["call_tool", "call_tool"]);
    expect(calls).toMatchObject([
      { arguments: { address: "shop.item", args: { id: 0 } } },
      { arguments: { address: "shop.item", args: { id: 1 } } },
    ]);
    expect(opened.complaints).toEqual([]);
  });

  test("flooded with ten thousand messages, it still serves a read", async () => {
    const opened = await open();
    const inner = await opened.inner();
    await inner.evaluate(steal);
    await inner.evaluate(
      `for (let i = 0; i < 10000; i++) port.postMessage({ id: 1000 + i, name: "none" })`,
    );
    expect(await read(inner)).toBe("landed");
    expect(await opened.calls()).toHaveLength(2);
  });
});

describe("raw messages of the inner page", () => {
  const rpc = {
    jsonrpc: "2.0",
    id: 77,
    method: "tools/call",
    params: { name: "call_destructive_tool", arguments: { address: "shop.delete" } },
  };
  const attack = (inner: Frame) =>
    inner.evaluate((message) => {
      window.parent.postMessage(message, "*");
      window.top?.postMessage(message, "*");
    }, rpc);
  const landed = async (opened: Opened) =>
    (await opened.passed()).some(({ message }) => message.id === rpc.id);

  test("reach neither the host through the shell nor a host that checks its source", async () => {
    const opened = await open();
    const inner = await opened.inner();
    await attack(inner);
    await read(inner);
    expect(await landed(opened)).toBe(false);
  });

  test("reach a host that checks nothing: the attack itself works", async () => {
    const opened = await open(PAGE, { careless: true });
    const inner = await opened.inner();
    await attack(inner);
    await read(inner);
    expect(await landed(opened)).toBe(true);
  });

  test("cannot speak to the shell as its host does", async () => {
    const opened = await open();
    const inner = await opened.inner();
    const teardown = { jsonrpc: "2.0", id: 78, method: "ui/resource-teardown", params: {} };
    await inner.evaluate((message) => window.parent.postMessage(message, "*"), teardown);
    expect(await read(inner)).toBe("landed");
    await opened.send(teardown);
    await expect.poll(() => read(inner)).toBe("reads_unavailable");
  });

  test("a view without reads has no ear in the shell", async () => {
    const opened = await stage.open({ result: results.viewResult(PAGE) });
    const inner = await opened.inner();
    await opened.shell().evaluate(() => {
      const heard = new Promise((resolve) => {
        addEventListener("message", ({ ports }) => resolve(ports.length));
      });
      Object.assign(window, { heard });
    });
    await inner.evaluate(() => {
      const { port1, port2 } = new MessageChannel();
      Object.assign(window, { port: port1 });
      window.parent.postMessage({ type: "connecta/port", render: "" }, "*", [port2]);
      port1.postMessage({ id: 1, name: "item", args: {} });
    });
    // The control: the message does arrive in the shell's window.
    expect(await opened.shell().evaluate("window.heard")).toBe(1);
    expect(await opened.calls()).toEqual([]);
  });
});

describe("the inner document", () => {
  test("and the shell keep their policy when a host moves the shell into another body", async () => {
    const opened = await open(PAGE, { shell: "/moved/shell" });
    const inner = await opened.inner();
    const fetchFrom = (frame: Frame, path: string) =>
      frame.evaluate(
        (url) =>
          fetch(url).then(
            () => "sent",
            () => "blocked",
          ),
        stage.origin + path,
      );
    expect(await fetchFrom(inner, "/from-inner")).toBe("blocked");
    expect(await fetchFrom(opened.shell(), "/from-shell")).toBe("blocked");
    // The control: without the shell's script the policy in that body holds nothing.
    const bare = opened.page;
    await bare.route("**/moved/shell", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/<script type="module"[^]*?<\/script>/, "");
      await route.fulfill({ response, body });
    });
    await bare.goto(`${stage.origin}/moved/shell`);
    expect(await fetchFrom(bare.mainFrame(), "/from-bare")).toBe("sent");
    expect(stage.requests).toContain("/from-bare");
    expect(stage.requests).not.toContain("/from-inner");
    expect(stage.requests).not.toContain("/from-shell");
  });

  test("cannot be broken out of by host values or by the program's text", async () => {
    const hostile = `</script><script>window.broken = true</script><!--`;
    const opened = await open(`<p>first</p><!-- <script> ${PAGE}`, {
      hostContext: { theme: "dark", styles: { variables: { "--font-sans": `x${hostile}` } } },
    });
    const inner = await opened.inner();
    expect(await inner.textContent("p")).toBe("first");
    expect(await inner.evaluate("window.broken")).toBeUndefined();
    expect(await read(inner)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });

  test("takes the program's HTML after everything of ours, exactly as given", async () => {
    const html = `<html lang="de" data-x="1"><head><title>T</title></head><body class="mine">\u00fc<p>1<p>2`;
    const opened = await open(html);
    const inner = await opened.inner();
    const srcdoc = await opened.shell().locator("iframe").getAttribute("srcdoc");
    expect(srcdoc?.endsWith(html)).toBe(true);
    expect(srcdoc?.startsWith("<!doctype html>")).toBe(true);
    expect(await inner.evaluate(() => document.compatMode)).toBe("CSS1Compat");
    expect(await inner.evaluate(() => document.documentElement.lang)).toBe("de");
    expect(await inner.evaluate(() => document.body.className)).toBe("mine");
  });

  test("stands in a frame that may run scripts and nothing else", async () => {
    const opened = await open();
    await opened.inner();
    const frame = opened.shell().locator("iframe");
    const names = await frame.evaluate((element) => element.getAttributeNames().toSorted());
    expect(names).toEqual(["class", "referrerpolicy", "sandbox", "srcdoc", "style", "title"]);
    expect(await frame.getAttribute("sandbox")).toBe("allow-scripts");
    expect(await frame.getAttribute("referrerpolicy")).toBe("no-referrer");
  });
});
