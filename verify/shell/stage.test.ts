import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import * as results from "./results.ts";
import { Stage, type Opened, type OpenOptions, type ShellPath } from "./stage.ts";
import type { Shimmed } from "./shim.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const PAGE = `<h1>Title</h1><p>Text</p>`;
const READS = { item: { address: "shop.item" } };
const view = results.viewResult(PAGE, READS);
const notify = (method: string, params: unknown) => ({ jsonrpc: "2.0", method, params });
const toolResult = (result: unknown) => notify("ui/notifications/tool-result", result);
const methods = async (opened: Opened) =>
  (await opened.passed()).map(({ from, message }) => `${from} ${message.method ?? "response"}`);

/** One ordinary read by the program of the view that stands now. */
async function read(opened: Opened): Promise<unknown> {
  const inner = await opened.inner();
  return inner.evaluate(`connecta.read("item").catch((error) => error.code)`);
}
const landing = () => Promise.resolve(results.valueResult("landed"));

/** Whether the frame of the view scrolls, and every colour that is painted where it stands. */
async function look(opened: Opened): Promise<{ scrolls: boolean; colours: string[] }> {
  const scrolls = await opened.shell().evaluate(() => {
    const { scrollHeight, scrollWidth, clientHeight, clientWidth } = document.documentElement;
    return (
      scrollHeight > clientHeight ||
      scrollWidth > clientWidth ||
      clientWidth !== window.innerWidth ||
      clientHeight !== window.innerHeight
    );
  });
  const box = await opened.page.locator("#view").boundingBox();
  // One pixel more at each side: the host's own colour must be the only one.
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  const clip = { x: x - 1, y: y - 1, width: width + 2, height: Math.min(height + 2, 600) };
  const picture = (await opened.page.screenshot({ clip })).toString("base64");
  const colours = await opened.page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0);
    const bytes = context?.getImageData(0, 0, image.width, image.height).data ?? [];
    const seen = new Set<string>();
    for (let at = 0; at < bytes.length; at += 4) seen.add(bytes.slice(at, at + 3).join());
    return [...seen];
  }, picture);
  return { scrolls, colours };
}

describe("a host with a fixed height", () => {
  const settled = (opened: Opened) =>
    expect.poll(async () => (await methods(opened)).at(-1)).toContain("size-changed");

  test.each([
    ["light", 400],
    ["light", 12],
    ["dark", 400],
    ["dark", 12],
  ] as const)(
    "shows nothing at all for a result without a view: %s, %d px",
    async (scheme, frameHeight) => {
      const opened = await stage.open({ scheme, frameHeight, result: results.plainResult });
      await settled(opened);
      const { scrolls, colours } = await look(opened);
      expect(scrolls).toBe(false);
      expect(colours).toHaveLength(1);
      expect(opened.complaints).toEqual([]);
    },
  );

  test("keeps its height, whatever the view asks for, and the view fits into what it was told", async () => {
    const hostContext = { theme: "light", containerDimensions: { height: 300 } };
    const opened = await stage.open({ frameHeight: 300, hostContext, result: view });
    await settled(opened);
    expect((await opened.page.locator("#view").boundingBox())?.height).toBe(300);
    expect((await opened.shell().locator("iframe").boundingBox())?.height).toBe(300);
    expect((await look(opened)).scrolls).toBe(false);
  });

  test("the look would tell: words have a second colour, and scroll where there is no room", async () => {
    const opened = await stage.open({ frameHeight: 12, result: results.failedResult });
    await settled(opened);
    const { scrolls, colours } = await look(opened);
    expect(scrolls).toBe(true);
    expect(colours.length).toBeGreaterThan(1);
  });
});

describe("a host whose lengths mean nothing", () => {
  test.each<[string, Record<string, unknown>]>([
    ["edges without end", { safeAreaInsets: { top: 1e12, right: 1e12, bottom: 1e12, left: 1e12 } }],
    ["a height without end", { containerDimensions: { height: 1e308 } }],
    [
      "a width and edges that leave nothing",
      {
        containerDimensions: { height: 60, width: 10 },
        safeAreaInsets: { top: 50, right: 200, bottom: 50, left: 200 },
      },
    ],
  ])("%s: the view stands in sight", async (_, context) => {
    const hostContext = { theme: "light", ...context };
    const opened = await stage.open({ hostContext, result: view, width: 320 });
    await opened.inner();
    const box = await opened.shell().locator("iframe").boundingBox();
    expect(box?.width).toBeGreaterThan(100);
    expect(box?.height).toBeGreaterThanOrEqual(60);
    expect(box?.height).toBeLessThanOrEqual(10_000);
    expect(box?.y).toBeLessThan(600);
  });
});

describe("a host that sends before the handshake", () => {
  test("shows the view, and its theme arrives although the view was there first", async () => {
    const opened = await stage.open({ scheme: "dark", beforeInit: [toolResult(view)] }, landing);
    expect((await methods(opened)).slice(0, 3)).toEqual([
      "view ui/initialize",
      "host ui/notifications/tool-result",
      "host response",
    ]);
    const inner = await opened.inner();
    const scheme = () =>
      inner.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await expect.poll(scheme).toBe("dark");
    expect(await read(opened)).toBe("landed");
  });
});

describe("a host that puts the same frame up again", () => {
  test.each(["reload", "move"] as const)(
    "%s: the view and its reads are there again",
    async (how) => {
      const opened = await stage.open({ result: view }, landing);
      expect(await read(opened)).toBe("landed");
      await opened.remount(how);
      await expect.poll(() => opened.shell().locator("iframe").count()).toBe(1);
      expect(await read(opened)).toBe("landed");
      expect((await methods(opened)).filter((one) => one === "view ui/initialize")).toHaveLength(2);
      expect(opened.complaints).toEqual([]);
    },
  );
});

describe("a foreign script in the shell's window", () => {
  const shimmed = (opened: Opened) =>
    opened.shell().evaluate(() => (window as unknown as { shim: Shimmed }).shim.heard.length);

  test.each<ShellPath>(["/shell", "/moved/shell", "/header/shell"])(
    "hears and speaks, and changes nothing: %s",
    async (shell) => {
      const options: OpenOptions = { shell, shim: true, result: view };
      const opened = await stage.open(options, landing);
      expect(await read(opened)).toBe("landed");
      expect(await methods(opened)).toContain("view shim/hello");
      expect(await shimmed(opened)).toBeGreaterThan(8);
      expect(await opened.calls()).toHaveLength(1);
    },
  );
});

test("a host whose header is the only policy: it holds in the shell too", async () => {
  const opened = await stage.open({ shell: "/header/shell", result: view }, landing);
  expect(await read(opened)).toBe("landed");
  const reach = (path: string) =>
    opened.shell().evaluate(
      (url) =>
        fetch(url).then(
          () => "sent",
          () => "blocked",
        ),
      stage.origin + path,
    );
  expect(await reach("/from-shell")).toBe("blocked");
  expect(stage.requests).not.toContain("/from-shell");
});

test("a browser with a regular profile shows views too, and forgets no page of its own", async () => {
  const own = await Stage.start({ profile: true });
  try {
    for (let round = 0; round < 2; round++) {
      const opened = await own.open({ result: view }, landing);
      expect(await read(opened)).toBe("landed");
      expect(opened.complaints).toEqual([]);
      await own.clear();
    }
  } finally {
    await own.close();
  }
});
