import type { Browser, Locator } from "playwright";
import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, mustBeQuiet, openWatched, OUT, type Watched } from "./support/chromium.ts";
import { appears, eventually, HostPage } from "./support/page.ts";
import { coloursOf } from "./support/picture.ts";
import { servePreview, type PreviewSite } from "./support/preview.ts";

const PICTURES = `${OUT}states/`;

let browser: Browser;
let site: PreviewSite;
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  [browser, site] = await Promise.all([launchChromium(), servePreview()]);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

interface State {
  readonly fixture: string;
  /** What draws it: the program's page, the shell's one line, or nothing at all. */
  readonly shows: "view" | "line" | "nothing";
  readonly words?: string;
  /** Milliseconds of the page's clock until it is there. */
  readonly after?: number;
  /** Whether the view is asked to read, and says in words what became of that. */
  readonly reads?: true;
}

const STATES: readonly State[] = [
  { fixture: "waiting", shows: "line", words: "Running\u2026", after: 400 },
  { fixture: "view", shows: "view", words: "Response time, median of the last hour." },
  { fixture: "view-with-reads", shows: "view", words: "Page 2, read at", reads: true },
  { fixture: "no-view", shows: "nothing" },
  {
    fixture: "failed",
    shows: "line",
    words: "program_errorCannot read properties of undefined (reading 'b')",
  },
  { fixture: "cancelled", shows: "line", words: "Cancelled: stopped by the person" },
  {
    fixture: "malformed",
    shows: "line",
    words: "This view cannot be shown: html is not a non-empty string.",
  },
  {
    fixture: "reads-unavailable",
    shows: "view",
    words:
      "reads_unavailable: This host runs no reads for views; the view shows what it came with.",
    reads: true,
  },
  {
    fixture: "view-dropped",
    shows: "line",
    words: "This host removed the view; the text answer stands.",
  },
  { fixture: "no-result", shows: "line", words: "No result has arrived yet.", after: 61_000 },
  {
    fixture: "torn-down",
    shows: "view",
    words: "reads_unavailable: The host has closed this view.",
    reads: true,
  },
];

/** How many pixels the content of a frame sticks out of it. */
const overflow = (root: Locator) =>
  root.evaluate(({ scrollWidth, clientWidth }) => Math.max(0, scrollWidth - clientWidth));

/** A picture of a frame without the pixels at its edges, where the page around it may show. */
async function inside(frame: Locator): Promise<Buffer> {
  const { x, y, width, height } = (await frame.boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  };
  const edge = Math.min(12, Math.floor(height / 4));
  const clip = { x: x + 12, y: y + edge, width: width - 24, height: height - 2 * edge };
  return frame.page().screenshot({ clip });
}

describe.each([
  ["light", 320],
  ["light", 768],
  ["light", 1200],
  ["dark", 320],
  ["dark", 768],
  ["dark", 1200],
] as const)("in a %s host of %d px", (scheme, width) => {
  let watched: Watched;
  let host: HostPage;
  beforeAll(async () => {
    // High enough for the whole page: a picture of more than the window catches frames half laid out.
    const viewport = { width, height: width === 1200 ? 900 : 1300 };
    watched = await openWatched(browser, { viewport, colorScheme: scheme });
    await watched.page.clock.install();
    host = new HostPage(watched.page);
    await host.open(site.origin, "/?fixture=view");
    await appears(host.view.getByRole("heading"));
  });
  afterAll(() => watched.page.context().close());

  /** Chooses a fixture as a person does, and waits until the view before it is gone. */
  async function choose({ fixture, after, reads }: State): Promise<void> {
    const frame = host.page.locator(".stage iframe");
    await frame.evaluate((element) => element.setAttribute("data-old", ""));
    await host.page.getByLabel("Fixture").selectOption(fixture);
    await host.page.locator("iframe[data-old]").waitFor({ state: "detached" });
    await host.shell.locator("main").waitFor({ state: "attached" });
    if (after !== undefined) await host.page.clock.runFor(after);
    if (reads) await host.view.getByRole("button", { name: "Next page" }).click();
  }

  /** Pixels of the view's frame in a host that takes its size from the view: all but the widest. */
  function isFitting(shows: State["shows"], height: number): boolean {
    if (width === 1200) return height > 400;
    if (shows === "nothing") return height === 1;
    // 480 px of the program's page, and a row for the button that makes it fill the screen.
    return shows === "view" ? height === 508 : height > 30 && height < 90;
  }

  test.each(STATES)("$fixture", async (state) => {
    const { fixture, shows, words } = state;
    await choose(state);
    const frame = host.page.locator(".stage iframe");
    const drawn = shows === "view" ? host.view.locator("body") : host.shell.locator("main");
    if (words === undefined) expect(await drawn.textContent()).toBe("");
    else if (shows === "line") await eventually(() => drawn.textContent()).toBe(words);
    else expect(await appears(host.view.getByText(words))).toBe(true);

    const path = `${PICTURES}${fixture}-${scheme}-${width}.png`;
    const heightOf = () => frame.evaluate(({ clientHeight }) => clientHeight);
    await eventually(async () => isFitting(shows, await heightOf())).toBe(true);
    await host.page.screenshot({ path });
    for (const root of [host.page.locator("html"), host.shell.locator("html"), drawn]) {
      expect(await overflow(root)).toBe(0);
    }
    const colours = await coloursOf(host.page, await inside(frame));
    if (shows !== "nothing") expect(colours.length).toBeGreaterThan(8);
    else if (width === 1200) expect(colours).toHaveLength(1);
    mustBeQuiet(watched);
  });
});
