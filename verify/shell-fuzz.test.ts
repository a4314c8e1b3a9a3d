import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isPlainObject } from "../server/view/protocol.ts";
import fuzz, { type Fuzz } from "./shell/fuzz.ts";
import source from "./shell/fuzz.ts?travel";
import floodSource from "./shell/flood.ts?travel";
import type { HostFlood } from "./shell/flood.ts";
import * as results from "./shell/results.ts";
import { heard, mustSee, seen } from "./shell/sight.ts";
import { Stage, type Opened } from "./shell/stage.ts";
import { Heap } from "./support/heap.ts";

/** Choose another one with `FUZZ_SEED`; the same seed sends the same messages. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_260_126);
const MEGABYTE = 2 ** 20;

let stage: Stage;
beforeAll(async () => {
  console.info(`fuzz seed: ${SEED}`);
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const READS = {
  item: { address: "shop.item", fixedArgs: { shop: "main" }, viewArgs: ["id", "html"] },
  list: { address: "shop.list" },
};
const PAGE = `<h1>Title</h1><p>Text</p>`;
const view = results.viewResult(PAGE, READS);
/** What any shell says of its own accord. */
const SAID = ["ui/initialize", "ui/notifications/initialized", "ui/notifications/size-changed"];
const VIEW = "view: Title Text";

/** A heap that grows no further while messages keep coming; what it takes to warm up is little. */
function isFlat({ sinceStart, sinceMiddle }: ReturnType<Heap["growth"]>): boolean {
  return sinceMiddle < MEGABYTE / 2 && sinceStart < 2 * MEGABYTE;
}

/** What the view asked of its host, and what no view may ask. */
function asked(random: Fuzz) {
  const calls: unknown[] = [];
  const strange: unknown[] = [];
  const isDeclared = (params: unknown) => {
    if (!isPlainObject(params) || !isPlainObject(params.arguments)) return false;
    const { address, args, resultMode, ...more } = params.arguments;
    if (params.name !== "call_tool" || resultMode !== "value") return false;
    if (!isPlainObject(args) || Object.keys(more).length > 0) return false;
    const keys = Object.keys(args).filter((key) => !["shop", "id", "html"].includes(key));
    if (address === READS.item.address) return args.shop === "main" && keys.length === 0;
    return address === READS.list.address && Object.keys(args).length === 0;
  };
  const answer = (method: string, params: unknown): Promise<unknown> => {
    const fits = method === "tools/call" && isDeclared(params);
    (fits ? calls : strange).push({ method, params });
    const kind = random.next(4);
    if (kind === 0) return Promise.reject(new Error("refused"));
    if (kind === 1) return Promise.resolve({ content: "odd", isError: random.next(2) === 0 });
    return Promise.resolve(results.valueResult(random.next(9)));
  };
  return { calls, strange, answer };
}

/** The methods of what the view sent, but for its answers to the host's requests. */
async function said(opened: Opened): Promise<unknown[]> {
  const sent = (await opened.passed()).filter(
    ({ from, message }) => from === "view" && !("result" in message) && !("error" in message),
  );
  return [...new Set(sent.map(({ message }) => message.method))];
}

test("from the inner page: ten thousand messages, and only declared reads come of it", async () => {
  const { calls, strange, answer } = asked(fuzz(SEED));
  const opened = await stage.open({ result: view }, answer);
  const inner = await opened.inner();
  const heap = await Heap.of(opened.shell());
  await inner.evaluate(`window.fuzz = (${source})(${SEED}); 0`);
  const settled = new Map<string, number>();
  for (let round = 0; round < 20; round++) {
    if (round % 10 === 0) await heap.measure();
    const codes = await inner.evaluate(floodFromInside, 500);
    for (const code of codes) settled.set(code, (settled.get(code) ?? 0) + 1);
  }
  await heap.measure();
  await heard(opened);
  expect(strange).toEqual([]);
  expect(calls.length).toBeGreaterThan(100);
  // Each read has settled, with a value or in one of the ways that are documented.
  const codes = [
    "value",
    "unknown_read",
    "invalid_args",
    "too_many_reads",
    "connector_call_failed",
  ];
  expect(codes).toEqual(expect.arrayContaining([...settled.keys()]));
  expect(settled.get("value")).toBeGreaterThan(50);
  expect(settled.size).toBeGreaterThan(2);
  expect([...SAID, "tools/call"]).toEqual(expect.arrayContaining(await said(opened)));
  await mustSee(opened, VIEW);
  expect(heap.growth()).toSatisfy(isFlat);
  expect(opened.complaints).toEqual([]);

  // The control: four megabytes that the shell would keep are seen.
  await opened.shell().evaluate(`window.kept = new Array(2 ** 19).fill(0.5); 0`);
  await heap.measure();
  expect(heap.growth()).not.toSatisfy(isFlat);
});

test("the same flood reaches a host that does not check who speaks, so the attempts are real", async () => {
  const { strange, answer } = asked(fuzz(SEED));
  const opened = await stage.open({ result: view, careless: true }, answer);
  const inner = await opened.inner();
  await inner.evaluate(`window.fuzz = (${source})(${SEED}); 0`);
  await inner.evaluate(floodFromInside, 2_000);
  await expect.poll(() => strange.length).toBeGreaterThan(3);
});

/** Sends from the program's page in every way that it has; waits until each read has settled. */
async function floodFromInside(count: number): Promise<string[]> {
  type Read = (name: unknown, args: unknown) => Promise<unknown>;
  const { fuzz, connecta } = window as unknown as { fuzz: Fuzz; connecta: { read: Read } };
  const methods = [
    "tools/call",
    "ui/initialize",
    "ui/resource-teardown",
    "ui/notifications/tool-result",
  ];
  const reads: Promise<string>[] = [];
  const post = MessagePort.prototype.postMessage;
  let port: MessagePort | undefined;
  MessagePort.prototype.postMessage = new Proxy(post, {
    apply(target, self, given) {
      port = self;
      return Reflect.apply(target, self, given);
    },
  });
  const read = () => {
    const name = fuzz.next(3) ? fuzz.pick(["item", "list"]) : fuzz.value();
    const args = fuzz.next(3)
      ? { [fuzz.pick(["id", "html", "shop"])]: fuzz.next(2) ? fuzz.next(9) : fuzz.value() }
      : fuzz.value();
    const code = (error: unknown) =>
      error instanceof Error && "code" in error ? String(error.code) : "no Error";
    reads.push(connecta.read(name, args).then(() => "value", code));
  };
  const ways = [
    read,
    () => window.parent.postMessage(fuzz.message(methods, [0, 1, 2]), "*"),
    () => window.top?.postMessage(fuzz.message(methods, [0, 1, 2]), "*"),
    () => {
      const { port1, port2 } = new MessageChannel();
      const offer = { type: "connecta/port", render: fuzz.value() };
      window.parent.postMessage(fuzz.next(2) ? offer : fuzz.value(), "*", [port2]);
      port1.postMessage({ id: 1, name: "item" });
    },
    // Ids beyond those of the program's own reads, so that each of these is answered once.
    () =>
      port &&
      Reflect.apply(post, port, [
        { id: -fuzz.next(9), name: fuzz.pick(["item", "list", fuzz.value()]), args: fuzz.value() },
      ]),
    () => port && Reflect.apply(post, port, [fuzz.value()]),
  ];
  for (let sent = 0; sent < count; sent++) {
    ways[sent % ways.length]?.();
    if (reads.length % 8 === 7) await reads.at(-1);
  }
  MessagePort.prototype.postMessage = post;
  return Promise.all(reads);
}

describe("from a hostile host", () => {
  const start = (opened: Opened) => opened.page.evaluate(`window.makeFuzz = ${source}; 0`);
  const floodFromHost = (opened: Opened, plan: HostFlood) =>
    opened.page.evaluate(`(${floodSource})(${JSON.stringify(plan)})`);

  /** Floods a shell, and waits until its window has taken the last of it. */
  async function floodAndWait(opened: Opened, plan: HostFlood): Promise<void> {
    await opened.shell().evaluate(() => {
      const taken = new Promise((resolve) => {
        addEventListener("message", ({ data }) => data === "the last" && resolve(0));
      });
      Object.assign(window, { taken });
    });
    await floodFromHost(opened, plan);
    await opened.send("the last");
    await opened.shell().evaluate("window.taken");
  }

  async function stateOf(opened: Opened): Promise<string> {
    const main = opened.shell().locator("main[data-state]");
    return (await main.getAttribute("data-state")) ?? "";
  }

  // 2,500 messages each: the shells that hear few of them are still on their way to a result.
  const COUNTS = [2, 4, 8, 16, 40, 80, 150, 300, 600, 1300];
  test.each(["never", "once"] as const)(
    "ten shells whose handshake is answered %s: each says where it stands",
    async (initialize) => {
      const opened = await stage.open({ initialize });
      await start(opened);
      const met = new Set<string>();
      for (const [round, count] of COUNTS.entries()) {
        await opened.remount("reload");
        // Only a shell that has heard much is asked to end: one that ends early shows nothing.
        await floodAndWait(opened, { seed: SEED + round, count, teardown: count >= 300 });
        const state = await stateOf(opened);
        met.add(state);
        if (state !== "none") await expect.poll(() => seen(opened)).toMatch(/^(?:view|line): ./);
      }
      expect(met.size).toBeGreaterThan(2);
      expect(SAID).toEqual(expect.arrayContaining(await said(opened)));
      expect(opened.complaints).toEqual([]);
    },
  );

  test("five thousand messages to one view: it stands, and reads as before", async () => {
    const { calls, strange, answer } = asked(fuzz(SEED));
    const opened = await stage.open({ result: view }, answer);
    const inner = await opened.inner();
    await start(opened);
    const heap = await Heap.of(opened.shell());
    for (let round = 0; round < 10; round++) {
      if (round % 5 === 0) await heap.measure();
      const reads = inner.evaluate(`Promise.all(Array.from({ length: 16 }, (_, id) =>
        connecta.read("item", { id }).then(() => "value", (error) => error.code)))`);
      await floodFromHost(opened, { seed: SEED - round, count: 500, teardown: false });
      expect(await reads).toHaveLength(16);
      await heard(opened);
    }
    await heap.measure();
    expect(strange).toEqual([]);
    expect(calls.length).toBeGreaterThan(10);
    expect(heap.growth()).toSatisfy(isFlat);
    const sane = { displayMode: "inline", containerDimensions: {}, safeAreaInsets: {} };
    await opened.send({
      jsonrpc: "2.0",
      method: "ui/notifications/host-context-changed",
      params: sane,
    });
    await mustSee(opened, VIEW);
    expect(opened.complaints).toEqual([]);
  });
});
