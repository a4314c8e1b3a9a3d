import { Window, type HTMLElement } from "happy-dom";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { gitTools } from "../../examples/node/git.mjs";
import { systemTools } from "../../examples/node/system.mjs";
import { temporaryFolder, TestRepository } from "./repository.ts";
import { CallError, read as readTool, run, source, type DemoTools } from "./run.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const folder = temporaryFolder();
const views = new Map<string, string>();
let tools: DemoTools;

beforeAll(async () => {
  const repository = new TestRepository(folder.path);
  for (let count = 1; count <= 30; count++) {
    const name = count === 30 ? "Latest <img src=x onerror=alert(1)>" : `Commit ${count}`;
    repository.commit(name, { "a.txt": "line\n".repeat(count) }, count % 2 ? "Ada" : "Grace");
  }
  tools = { system: systemTools(), git: gitTools({ cwd: repository.path }) };
  for (const name of ["01-system-dashboard", "02-commits", "03-commit-detail"]) {
    views.set(name, (await run(source(`${name}.js`), tools)).payload?.html ?? "");
  }
});

interface Read {
  readonly name: string;
  readonly args: unknown;
  settle(value: unknown): void;
  fail(error: Error): void;
}

const open: Window[] = [];
afterEach(async () => {
  for (const window of open.splice(0)) await window.happyDOM.close();
});

/** A view in a page of its own, whose reads wait until the test settles them. */
function openView(name: string, width = 1_024) {
  const settings = {
    enableJavaScriptEvaluation: true,
    suppressInsecureJavaScriptEnvironmentWarning: true,
  };
  const window = new Window({ width, settings });
  open.push(window);
  const reads: Read[] = [];
  const timers: (() => void)[] = [];
  const connecta = {
    read: (read: string, args: unknown) =>
      new Promise((settle, fail) => reads.push({ name: read, args, settle, fail })),
  };
  // The only timer of a view is the next automatic reading; here it waits for the test.
  const setTimeout = (work: () => void) => timers.push(work);
  const clearTimeout = (timer: number) => timers.splice(0, timer ? timers.length : 0);
  Object.assign(window, { connecta, setTimeout, clearTimeout });
  window.document.write(`<!doctype html><html><body>${views.get(name)}</body></html>`);
  const find = (selector: string): HTMLElement => {
    const element = window.document.querySelector(selector);
    if (!element) throw new Error(`no ${selector}`);
    return element as HTMLElement;
  };
  const texts = (selector: string) =>
    [...window.document.querySelectorAll(selector)].map(({ textContent }) => textContent);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const disabled = (selector: string) => find(selector).hasAttribute("disabled");
  return { window, reads, timers, find, texts, settled, disabled };
}

const last = (reads: readonly Read[]): Read => {
  const found = reads.at(-1);
  if (!found) throw new Error("no read");
  return found;
};

describe("the dashboard", () => {
  const overview = () => readTool(tools, "system.overview");

  test("says what it shows and of when", () => {
    const { find } = openView("01-system-dashboard");
    expect(find("#status").textContent).toMatch(/^System overview · Updated \d\d:\d\d:\d\d$/);
  });

  test("Refresh makes one read, waits with its control disabled, and shows what came", async () => {
    const { find, reads, settled, disabled } = openView("01-system-dashboard");
    find("#refresh").click();
    expect(disabled("#refresh")).toBe(true);
    find("#refresh").click();
    expect(reads.map(({ name, args }) => [name, args])).toEqual([["overview", undefined]]);
    const fresh = { ...((await overview()) as object), host: "another-host" };
    last(reads).settle(fresh);
    await settled();
    expect(disabled("#refresh")).toBe(false);
    expect(find("#host").textContent).toBe("another-host");
    expect(find("#cpu-curve").getAttribute("aria-label")).toBe("CPU use over the last 5 readings");
  });

  test("a failed read says so, keeps the earlier reading and ends the automatic ones", async () => {
    const { find, reads, settled, disabled, timers, texts } = openView("01-system-dashboard");
    const before = texts("#processes tr");
    find("#refresh").click();
    last(reads).fail(new CallError("unavailable", "The connector does not answer now."));
    await settled();
    expect(find("#problem").hidden).toBe(false);
    expect(find("#problem").textContent).toContain("The connector does not answer now.");
    expect(texts("#processes tr")).toEqual(before);
    expect(disabled("#refresh")).toBe(false);
    expect(timers).toEqual([]);
    find("#refresh").click();
    last(reads).settle(await overview());
    await settled();
    expect(find("#problem").hidden).toBe(true);
  });

  test("refreshes itself until Live is switched off", async () => {
    const { find, reads, timers, settled } = openView("01-system-dashboard");
    for (let count = 1; count <= 2; count++) {
      expect(timers).toHaveLength(1);
      timers[0]?.();
      expect(reads).toHaveLength(count);
      last(reads).settle(await overview());
      await settled();
    }
    find("#live").click();
    expect(timers).toEqual([]);
  });

  test("sorts the processes without a read", async () => {
    const { find, reads, settled, texts } = openView("01-system-dashboard");
    const process = (pid: number, cpuPercent: number, memoryBytes: number) => ({
      pid,
      name: `<b>${pid}</b>`,
      cpuPercent,
      memoryBytes,
    });
    const processes = [process(1, 50, 1_024), process(2, 0, 3 * 1_048_576), process(3, 7, 2_048)];
    find("#refresh").click();
    last(reads).settle({ ...((await overview()) as object), processes });
    await settled();
    expect(texts("#processes td:first-child")).toEqual(["<b>1</b>1", "<b>3</b>3", "<b>2</b>2"]);
    find("#by-memory button").click();
    expect(texts("#processes td:last-child")).toEqual(["3.0 MiB", "2.0 KiB", "1.0 KiB"]);
    expect(find("#by-memory").getAttribute("aria-sort")).toBe("descending");
    expect(find("#by-cpu").getAttribute("aria-sort")).toBe("none");
    expect(reads).toHaveLength(1);
  });
});

describe("the commit list", () => {
  const page = (args: unknown) => readTool(tools, "git.log", { limit: 12, ...(args as object) });

  test("shows twelve commits, and their text as text", () => {
    const { window, texts, disabled } = openView("02-commits");
    expect(texts("#commits tr")).toHaveLength(12);
    expect(texts("#commits td")[0]).toBe("Latest <img src=x onerror=alert(1)> main");
    expect(window.document.querySelector("img")).toBeNull();
    expect(disabled("#previous")).toBe(true);
  });

  test("Next page reads with the cursor, Previous page shows what was kept", async () => {
    const { find, reads, settled, disabled, texts } = openView("02-commits");
    find("#next").click();
    expect(["#next", "#previous", "#refresh"].map(disabled)).toEqual([true, true, true]);
    expect(find("#frame").getAttribute("aria-busy")).toBe("true");
    expect(last(reads)).toMatchObject({
      name: "page",
      args: { cursor: expect.any(String) as string },
    });
    last(reads).settle(await page(last(reads).args));
    await settled();
    expect(find("#status").textContent).toMatch(/^Page 2 of main · Updated \d\d:\d\d:\d\d$/);
    expect(find("#range").textContent).toBe("13–24");
    expect(texts("#commits td:first-child")[0]).toBe("Commit 18");
    find("#previous").click();
    find("#next").click();
    expect(reads).toHaveLength(1);
    find("#next").click();
    last(reads).settle(await page(last(reads).args));
    await settled();
    expect(find("#range").textContent).toBe("25–30 · the end");
    expect(disabled("#next")).toBe(true);
  });

  test("at either end the focus moves to the button that leads back", async () => {
    const { window, find, reads, settled } = openView("02-commits");
    const focused = () => window.document.activeElement?.id;
    const press = (id: string) => {
      find(id).focus();
      find(id).click();
    };
    for (const heir of ["next", "previous"]) {
      press("#next");
      last(reads).settle(await page(last(reads).args));
      await settled();
      expect(focused()).toBe(heir);
    }
    press("#previous");
    expect(focused()).toBe("previous");
    press("#previous");
    expect(focused()).toBe("next");
    expect(reads).toHaveLength(2);
  });

  test("Refresh starts again at the newest commit", async () => {
    const { find, reads, settled } = openView("02-commits");
    find("#next").click();
    last(reads).settle(await page(last(reads).args));
    await settled();
    find("#refresh").click();
    expect(last(reads).args).toEqual({});
    last(reads).settle(await page({}));
    await settled();
    expect(find("#range").textContent).toBe("1–12");
  });

  test("a failed page leaves the one before in place and says how to go on", async () => {
    const { find, reads, settled, disabled } = openView("02-commits");
    find("#next").click();
    last(reads).fail(new CallError("not_found", "The repository has no commit of this name."));
    await settled();
    expect(find("#problem").textContent).toBe(
      "Next page failed: The repository has no commit of this name. " +
        "Refresh starts again at the newest commit.",
    );
    expect(find("#range").textContent).toBe("1–12");
    expect(disabled("#next")).toBe(false);
  });

  test("the filter narrows the page without a read", () => {
    const { window, find, reads, texts } = openView("02-commits");
    const filter = find("#filter") as HTMLElement & { value: string };
    const type = (text: string) => {
      filter.value = text;
      filter.dispatchEvent(new window.Event("input"));
    };
    type("commit 21");
    expect(texts("#commits td:first-child")).toEqual(["Commit 21"]);
    type("nothing like it");
    expect(find("#empty").textContent).toBe("Nothing on this page matches.");
    expect(reads).toEqual([]);
  });
});

describe("the commit detail", () => {
  const commit = (args: unknown) => readTool(tools, "git.commit", args as object);

  test("opens with the newest commit; rows are buttons named by their subject", () => {
    const { find, texts, reads } = openView("03-commit-detail");
    expect(find("#detail h2").textContent).toBe("Latest <img src=x onerror=alert(1)>");
    expect(texts("#commits button")[1]).toMatch(/^Commit 29Ada/);
    expect(find("#commits [aria-current=true]").textContent).toMatch(/^Latest/);
    expect(texts("#commits > li").at(-1)).toBe("Only the newest 14 are listed here.");
    expect(reads).toEqual([]);
  });

  test("a row reads its commit once and shows it with its diff stat", async () => {
    const { window, find, reads, settled, texts } = openView("03-commit-detail");
    find("#commits li:nth-child(3) button").click();
    const buttons = [...window.document.querySelectorAll("#commits button")];
    expect(buttons.every((button) => button.hasAttribute("disabled"))).toBe(true);
    expect(last(reads)).toMatchObject({
      name: "commit",
      args: { hash: expect.any(String) as string },
    });
    last(reads).settle(await commit(last(reads).args));
    await settled();
    expect(reads).toHaveLength(1);
    expect(find("#detail h2").textContent).toBe("Commit 28");
    expect(find("caption").textContent).toBe("1 file changed +1 −0");
    expect(texts("#detail tbody td").slice(0, 3)).toEqual(["a.txt", "+1", "−0"]);
    expect(find("#status").textContent).toMatch(/^Commit [0-9a-f]{7} · Updated \d\d:\d\d:\d\d$/);
    expect(find("#commits [aria-current=true]").textContent).toMatch(/^Commit 28/);
    expect(buttons.some((button) => button.hasAttribute("disabled"))).toBe(false);
  });

  test("a failed read keeps the commit that was open", async () => {
    const { find, reads, settled } = openView("03-commit-detail");
    find("#commits li:nth-child(3) button").click();
    last(reads).fail(new CallError("timeout", "git.commit did not answer."));
    await settled();
    expect(find("#problem").textContent).toBe(
      "Could not read the commit: git.commit did not answer.",
    );
    expect(find("#commits [aria-current=true]").textContent).toMatch(/^Latest/);
    expect(find("#detail h2").textContent).toMatch(/^Latest/);
  });

  test("stands beside the list where there is room, else under its row", async () => {
    expect(openView("03-commit-detail").find("#detail").parentElement?.id).toBe("main");
    const narrow = openView("03-commit-detail", 400);
    expect(narrow.find("#detail").parentElement?.tagName).toBe("LI");
  });
});
