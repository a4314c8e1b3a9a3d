import { describe, expect, test } from "vitest";
import * as results from "./shell/results.ts";
import { heard, mustSee } from "./shell/sight.ts";
import { type Opened } from "./shell/stage.ts";
import { landing, PAGE, view, VIEW, useStage } from "./shell/usual.ts";

const stage = useStage();

const HOW = ["reload", "move"] as const;
const last = async (opened: Opened) => (await opened.passed()).at(-1)?.message;

/** One read by the program of the view that stands now: its value or its code. */
async function read(opened: Opened, id = 1): Promise<unknown> {
  const inner = await opened.inner();
  return inner.evaluate(`connecta.read("item", { id: ${id} }).catch((error) => error.code)`);
}

describe.each(HOW)("a host that mounts its frame again: %s", (how) => {
  test.each<[string, unknown, string]>([
    ["a view", view, VIEW],
    ["a view without reads", results.viewResult(PAGE), VIEW],
    [
      "a failure",
      results.failedResult,
      "line: program_error<b>total</b> is not defined (line 3, column 9)",
    ],
    [
      "a dropped view",
      results.droppedResult,
      "line: This host removed the view; the text answer stands.",
    ],
    [
      "a malformed view",
      results.malformedResult,
      "line: This view cannot be shown: reads is not an object.",
    ],
    ["nothing yet", undefined, "line: Running\u2026"],
  ])("%s: the same is seen, time after time", async (_, result, seen) => {
    const opened = await stage().open({ result }, landing);
    await mustSee(opened, seen);
    for (let round = 0; round < 3; round++) {
      await opened.remount(how);
      await mustSee(opened, seen);
    }
    expect(opened.complaints).toEqual([]);
  });

  test("no view: one pixel again", async () => {
    const opened = await stage().open({ result: results.plainResult });
    const height = async () => (await opened.page.locator("#view").boundingBox())?.height;
    await expect.poll(height).toBe(1);
    await opened.remount(how);
    await expect.poll(async () => (await last(opened))?.method).toContain("size-changed");
    expect(await height()).toBe(1);
  });

  test("a read that was on its way ends with its page, and its late answer goes nowhere", async () => {
    const held: ((result: unknown) => void)[] = [];
    const opened = await stage().open(
      { result: view },
      () => new Promise((resolve) => held.push(resolve)),
    );
    const inner = await opened.inner();
    await inner.evaluate(`void connecta.read("item", { id: 1 }); 0`);
    await expect.poll(() => held.length).toBe(1);
    await opened.remount(how);
    await mustSee(opened, VIEW);
    const fresh = read(opened, 2);
    await expect.poll(() => held.length).toBe(2);
    held[0]?.(results.valueResult("of the old page"));
    await heard(opened);
    held[1]?.(results.valueResult("of the new page"));
    expect(await fresh).toBe("of the new page");
    expect(opened.complaints).toEqual([]);
  });

  test("shakes hands anew, under ids that never meet", async () => {
    const opened = await stage().open({ result: view }, landing);
    await read(opened);
    await opened.remount(how);
    await read(opened);
    const ids = (await opened.passed())
      .filter(({ from, message }) => from === "view" && message.method !== undefined)
      .flatMap(({ message }) => (message.id === undefined ? [] : [message.id]));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
  });

  test("after a teardown: the view and its reads are there again", async () => {
    const opened = await stage().open({ result: view }, landing);
    await mustSee(opened, VIEW);
    await opened.send({ jsonrpc: "2.0", id: "end", method: "ui/resource-teardown", params: {} });
    await expect.poll(() => read(opened)).toBe("reads_unavailable");
    await opened.remount(how);
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });

  test("and says another theme this time: the view follows", async () => {
    const opened = await stage().open({ result: view });
    await mustSee(opened, VIEW);
    await opened.remount(how);
    const inner = await opened.inner();
    const params = { theme: "dark" };
    await opened.send({ jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params });
    const scheme = () =>
      inner.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await expect.poll(scheme).toBe("dark");
    await mustSee(opened, VIEW);
  });
});

describe("two frames of the same shell in one page", () => {
  test("are strangers: each shows its own result", async () => {
    const opened = await stage().open({ result: view }, landing);
    await mustSee(opened, VIEW);
    await opened.page.evaluate(() => {
      const first = document.querySelector("#view");
      const second = document.createElement("iframe");
      for (const name of ["src", "sandbox", "style"]) {
        second.setAttribute(name, first?.getAttribute(name) ?? "");
      }
      document.body.append(second);
    });
    // The host knows of the first frame alone, so the second hears nothing and says what it is doing.
    const second = opened.page.frameLocator("iframe >> nth=1");
    await expect.poll(() => second.locator("[role=status]").textContent()).toBe("Running\u2026");
    await mustSee(opened, VIEW);
    expect(await read(opened)).toBe("landed");
    expect(opened.complaints).toEqual([]);
  });
});
