import { expect } from "vitest";
import { coloursOf } from "../support/picture.ts";
import type { Opened } from "./stage.ts";

/** How much of a view must be in sight to count: about a line of text, in pixels. */
const IN_SIGHT = { width: 100, height: 12 };

/**
 * What a person sees in the host's frame: `line: …` with the shell's own words, `view: …` with the
 * text of the program's page, or why they see nothing. White space counts as one blank.
 */
export async function seen(opened: Opened): Promise<string> {
  const found = await opened.shell().evaluate((least) => {
    const line = document.querySelector("[role=status]");
    const element = line ?? document.querySelector("main iframe");
    if (!element) return "blank: the shell shows nothing";
    const box = element.getBoundingClientRect();
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    if (width < least.width || height < least.height) return `blank: ${width} × ${height} px`;
    return line ? `line: ${line.textContent}` : "view: ";
  }, IN_SIGHT);
  if (found.startsWith("blank:")) return found;
  const inner = found === "view: " ? await opened.inner() : undefined;
  const page = (await inner?.evaluate(() => document.body?.innerText ?? "")) ?? "";
  const words = (found + page).replaceAll(/\s+/g, " ").trim();
  if (words === "view:") return "blank: the page of the program is empty";
  if (words === "line:") return "blank: a line without words";
  const colours = await coloursOf(opened.page, await opened.page.locator("#view").screenshot());
  return colours.length > 1 ? words : `blank: painted in one colour (${words})`;
}

/**
 * Waits until a person sees exactly this, painted and in sight: `view: …` or `line: …`.
 * @throws with what they see instead, a blank frame above all
 */
export async function mustSee(opened: Opened, words: string): Promise<void> {
  // A host that is still setting up may replace the frame while it is looked at.
  const look = () => seen(opened).catch((error: unknown) => `blank: ${String(error)}`);
  await expect.poll(look, { timeout: 10_000, interval: 50 }).toBe(words);
}

/** Waits until the shell has handled every message that the host sent so far. */
export async function heard(opened: Opened): Promise<void> {
  const id = `heard-${(await opened.passed()).length}`;
  await opened.send({ jsonrpc: "2.0", id, method: "ping", params: {} });
  const answers = async () =>
    (await opened.passed()).filter(({ from, message }) => from === "view" && message.id === id);
  await expect.poll(answers).toHaveLength(1);
}

/**
 * Puts the frame up again with a clock that a test can wind: time flows as before until then.
 * Only for what has been sent nothing yet, as the first frame's messages are lost.
 */
export async function windClock(opened: Opened): Promise<void> {
  await opened.page.clock.install();
  await opened.remount("reload");
}
