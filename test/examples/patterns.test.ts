import { readFileSync } from "node:fs";
import { parse } from "acorn";
import { Window, type HTMLElement } from "happy-dom";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { gitTools } from "../../examples/node/git.mjs";
import { systemTools } from "../../examples/node/system.mjs";
import { api, createConnecta, type Connector } from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import type { Executor } from "../../server/shared/contracts.ts";
import { checkPayload, type ViewPayload } from "../../server/view/protocol.ts";
import { callTool, type CallAnswer } from "../support/gateway.ts";
import { temporaryFolder, TestRepository } from "./repository.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

/*
 * The programs that documentation/view-patterns.md offers to authors, run as they stand there.
 */
const PAGE = readFileSync(new URL("../../documentation/view-patterns.md", import.meta.url), "utf8");
const PATTERNS = ["A chart", "A table that sorts", "A list in pages"];

/** The one program under a heading. */
function program(heading: string): string {
  const [, rest = ""] = PAGE.split(`\n## ${heading}\n`);
  const [section = ""] = rest.split(/\n##+ /);
  const [block, ...more] = section.matchAll(/^```js\n(.*?)^```$/gms);
  if (!block || more.length > 0) throw new Error(`not one program under ${heading}`);
  return block[1] ?? "";
}

const sandbox = quickjsExecutor({ processes: 1 });
const executor: Executor = { execute: (...run) => sandbox.execute(...run) };
const folder = temporaryFolder();
const real: Connector[] = [];
beforeAll(() => {
  const repository = new TestRepository(folder.path);
  for (let count = 1; count <= 14; count++) {
    repository.commit(`Commit ${count} </script>`, {}, count % 3 ? "Ada" : "Grace");
  }
  real.push(
    api({ id: "git", tools: gitTools({ cwd: folder.path }) }),
    api({ id: "system", tools: systemTools() }),
  );
});
afterAll(() => sandbox.close());

/** Runs a pattern through the whole gateway. */
async function run(heading: string, connectors: readonly Connector[] = real): Promise<CallAnswer> {
  const connecta = createConnecta({ connectors, executor });
  try {
    return await callTool(connecta, "execute_code", { code: program(heading) });
  } finally {
    await connecta.close();
  }
}

const payloadOf = ({ _meta }: CallAnswer) => _meta?.["connecta/ui"] as ViewPayload;

/** A connector that answers what a test has made up. */
function answering(id: string, answers: Readonly<Record<string, unknown>>): Connector {
  const tools = Object.entries(answers).map(([name, answer]) => [
    name,
    {
      description: "Made up.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: () => answer,
    },
  ]);
  return api({ id, tools: Object.fromEntries(tools) });
}

const HOSTILE = `<img src=x onerror=boom()>"'&</script>`;

describe("every pattern", () => {
  test("that the page shows is tested here", () => {
    const headings = [...PAGE.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(PATTERNS);
    expect(PAGE.match(/^```/gm)).toHaveLength(PATTERNS.length * 2);
  });

  test.each(PATTERNS)("%s: is one async arrow function of less than 3 KB", (heading) => {
    const { body } = parse(program(heading), { ecmaVersion: 2024, sourceType: "module" });
    const [statement, ...more] = body;
    if (statement?.type !== "ExpressionStatement") throw new Error("not an expression");
    expect([statement.expression.type, more]).toEqual(["ArrowFunctionExpression", []]);
    expect(Buffer.byteLength(program(heading))).toBeLessThan(3_000);
  });

  test.each(PATTERNS)(
    "%s: runs on the demo deployment and renders a sound payload",
    async (heading) => {
      const answer = await run(heading);
      expect(answer.isError).toBeUndefined();
      expect(answer.structuredContent).toMatchObject({ ui: true });
      expect(checkPayload(payloadOf(answer))).toEqual({ ok: true, value: payloadOf(answer) });
    },
  );

  test.each(PATTERNS)("U12: %s returns a summary of what it shows", async (heading) => {
    const { result } = (await run(heading)).structuredContent ?? {};
    expect(Object.keys(result as object).length).toBeGreaterThan(1);
    expect(JSON.stringify(result).length).toBeLessThan(500);
  });

  test.each(PATTERNS)(
    "%s: takes its colours from the host and nothing from a network",
    async (heading) => {
      const { html } = payloadOf(await run(heading));
      expect(html).not.toMatch(/https?:|url\(|@import|\bsrc=|<link|<meta|<form|innerHTML/);
      expect(html).not.toMatch(
        /#[0-9a-f]{3,8}\b|\brgb|\bhsl|color-scheme|\b(black|white|gr[ae]y)\b/i,
      );
      const used = [...html.matchAll(/var\((--[a-z-]+)\)/g)].map(([, name]) => name);
      expect(used).toContain("--color-text-secondary");
      const css = readFileSync(new URL("../../shell/src/defaults.css", import.meta.url), "utf8");
      expect(used.filter((name) => !css.includes(`  ${name}: `))).toEqual([]);
    },
  );

  test.each(PATTERNS)("%s: moves nothing, and works from the keyboard", async (heading) => {
    const { html } = payloadOf(await run(heading));
    expect(html).not.toMatch(/transition|animation|<animate|smooth|tabindex|outline: ?(0|none)/);
    const { window } = openView(html);
    const pressed = [...window.document.querySelectorAll("a, input, [onclick], [role=button]")];
    expect(pressed).toEqual([]);
    for (const button of window.document.querySelectorAll("button")) {
      expect([button.type, button.textContent !== ""]).toEqual(["button", true]);
    }
  });
});

interface Read {
  readonly args: readonly unknown[];
  settle(value: unknown): void;
  fail(error: Error): void;
}

const windows: Window[] = [];
afterEach(async () => {
  for (const window of windows.splice(0)) await window.happyDOM.close();
});

/** A page of its own for a view, whose reads wait until the test settles them. */
function openView(html: string) {
  const settings = {
    enableJavaScriptEvaluation: true,
    suppressInsecureJavaScriptEnvironmentWarning: true,
  };
  const window = new Window({ settings });
  windows.push(window);
  const reads: Read[] = [];
  const read = (...args: unknown[]) =>
    new Promise((settle, fail) => reads.push({ args, settle, fail }));
  Object.assign(window, { connecta: { read } });
  window.document.write(`<!doctype html><html><body>${html}</body></html>`);
  const all = (selector: string) => [...window.document.querySelectorAll(selector)];
  const find = (selector: string): HTMLElement => {
    const [element] = all(selector);
    if (!element) throw new Error(`no ${selector}`);
    return element as HTMLElement;
  };
  const texts = (selector: string) => all(selector).map(({ textContent }) => textContent);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { window, reads, all, find, texts, settled };
}

describe("a chart", () => {
  const day = (date: string) => ({ date: `${date}T09:00:00Z` });
  const open = async (authors: readonly object[], commits: readonly object[]) => {
    const git = answering("git", { authors: { authors }, log: { commits } });
    return openView(payloadOf(await run("A chart", [git])).html);
  };
  const people = [
    { name: "Ada", commits: 8 },
    { name: HOSTILE, commits: 2 },
  ];
  const commits = ["2026-01-07", "2026-01-05", "2026-01-05", "2026-01-06"].map(day);

  test("tells all its numbers to who does not see it", async () => {
    const { all } = await open(people, commits);
    expect(all("svg[role=img]").map((svg) => svg.getAttribute("aria-label"))).toEqual([
      `Commits by author: Ada 8, ${HOSTILE} 2`,
      "Commits a day: 2026-01-05 2, 2026-01-06 1, 2026-01-07 1",
    ]);
  });

  test("draws bars of the right length, with their names and numbers", async () => {
    const { all, texts } = await open(people, commits);
    expect(all("rect").map((bar) => bar.getAttribute("width"))).toEqual(["100%", "25%"]);
    const words = texts("svg[role=img]:first-of-type text").slice(0, 4);
    expect(words).toEqual(["Ada", "8", HOSTILE.slice(0, 32), "2"]);
  });

  test("draws a line from the first day to the last, the most at the top", async () => {
    const { all, texts } = await open(people, commits);
    expect(all("path").map((path) => path.getAttribute("d"))).toEqual([
      "M0 100H100",
      "M0 0L50 50L100 50H100",
    ]);
    expect(texts("text").slice(-3)).toEqual(["2", "2026-01-05", "2026-01-07"]);
  });

  test("lets no name become markup", async () => {
    const { all } = await open(people, commits);
    expect(all("img, script")).toEqual([]);
  });

  test("draws one point as a level line, and says so where there is none", async () => {
    const one = await open(people.slice(0, 1), commits.slice(0, 1));
    expect(one.all("path").at(-1)?.getAttribute("d")).toBe("M0 0H100");
    const none = await open([], []);
    expect(none.all("svg")).toEqual([]);
    expect(none.texts("p")).toEqual(["Nothing yet.", "Nothing yet."]);
  });
});

describe("a table that sorts", () => {
  const process = (name: string, cpuPercent: number, mebibytes: number) => ({
    name,
    cpuPercent,
    memoryBytes: mebibytes * 2 ** 20,
  });
  const open = async () => {
    const processes = [
      process("beta", 9, 1_200),
      process(HOSTILE, 80.04, 3),
      process("alpha", 0, 20),
    ];
    const system = answering("system", { processes: { total: 90, processes } });
    const view = openView(payloadOf(await run("A table that sorts", [system])).html);
    const press = (column: number) => view.find(`th:nth-child(${column}) button`).click();
    const column = (at: number) => view.texts(`tbody td:nth-child(${at})`);
    const orders = () => view.all("th").map((head) => head.getAttribute("aria-sort"));
    return { ...view, press, column, orders };
  };

  test("begins as the program gave it, with a caption and heads that are buttons", async () => {
    const { find, texts, column, orders, all } = await open();
    expect(find("caption").textContent).toBe("The 3 busiest of 90 processes");
    expect(texts("th[scope=col] button")).toEqual(["Process", "CPU %", "Memory MiB"]);
    expect(column(1)).toEqual(["beta", HOSTILE, "alpha"]);
    expect(orders().filter((order) => order && order !== "none")).toEqual([]);
    expect(all("img")).toEqual([]);
  });

  test("sorts numbers by size, the largest first, and turns round when asked again", async () => {
    const { press, column, orders } = await open();
    press(2);
    expect(column(2)).toEqual(["80", "9", "0"]);
    expect(orders()).toEqual(["none", "descending", "none"]);
    press(2);
    expect(column(2)).toEqual(["0", "9", "80"]);
    expect(orders()).toEqual(["none", "ascending", "none"]);
    press(3);
    expect(column(1)).toEqual(["beta", "alpha", HOSTILE]);
    expect(orders()).toEqual(["none", "none", "descending"]);
  });

  test("sorts words by letter, from A on", async () => {
    const { press, column } = await open();
    press(1);
    expect(column(1)).toEqual([HOSTILE, "alpha", "beta"]);
    press(1);
    expect(column(1)).toEqual(["beta", "alpha", HOSTILE]);
  });

  test("reads nothing", async () => {
    const { press, reads } = await open();
    press(1);
    expect(reads).toEqual([]);
  });
});

describe("a list in pages", () => {
  const page = (offset: number, nextCursor?: string) => ({
    commits: [{ subject: `Commit ${offset} ${HOSTILE}`, author: "Ada" }],
    offset,
    ...(nextCursor !== undefined && { nextCursor }),
  });
  const open = async (first: object = page(0, "c1")) => {
    const answer = await run("A list in pages", [answering("git", { log: first })]);
    const view = openView(payloadOf(answer).html);
    const states = () =>
      ["#newer", "#older"].map((button) => view.find(button).getAttribute("aria-disabled"));
    return { ...view, states, payload: payloadOf(answer) };
  };
  const status = expect.stringMatching(/^Page 1, read at \d+:\d\d:\d\d/) as unknown;

  test("declares one read, of which the view chooses the cursor alone", async () => {
    const { payload } = await open();
    expect(payload.reads).toEqual({
      page: { address: "git.log", fixedArgs: { limit: 10 }, viewArgs: ["cursor"] },
    });
  });

  test("begins with what the program read, says when, and shows text as text", async () => {
    const { texts, find, states, all, reads } = await open();
    expect(texts("li")).toEqual([`Commit 0 ${HOSTILE} — Ada`]);
    expect(find("[role=status]").textContent).toEqual(status);
    expect(states()).toEqual(["true", "false"]);
    expect([all("img"), reads]).toEqual([[], []]);
  });

  test("reads a page once, waits in sight, and goes back without a read", async () => {
    const { find, texts, reads, states, settled, window } = await open();
    find("#older").focus();
    find("#older").click();
    find("#older").click();
    expect(reads.map(({ args }) => args)).toEqual([["page", { cursor: "c1" }]]);
    expect([find("#status").textContent, find("#list").getAttribute("aria-busy")]).toEqual([
      "Reading…",
      "true",
    ]);
    expect(states()).toEqual(["true", "true"]);
    reads[0]?.settle(page(10));
    await settled();
    expect(texts("li")).toEqual([`Commit 10 ${HOSTILE} — Ada`]);
    expect(find("#list").getAttribute("start")).toBe("11");
    expect(find("#status").textContent).toMatch(/^Page 2, read at /);
    expect([states(), find("#list").getAttribute("aria-busy")]).toEqual([
      ["false", "true"],
      "false",
    ]);
    expect(window.document.activeElement?.id).toBe("older");
    find("#newer").click();
    find("#older").click();
    expect(texts("li")).toEqual([`Commit 10 ${HOSTILE} — Ada`]);
    expect(reads).toHaveLength(1);
  });

  test.each([
    [
      { code: "timeout", message: "page did not answer.", retryable: true },
      "page did not answer. Try again. (timeout)",
    ],
    [
      { code: "reads_unavailable", message: "This host runs no reads.", retryable: false },
      "This host runs no reads. (reads_unavailable)",
    ],
  ])("shows the failure %j where it happened, and keeps the page", async (failure, words) => {
    const { find, texts, reads, states, settled } = await open();
    find("#older").click();
    reads[0]?.fail(Object.assign(new Error(failure.message), failure));
    await settled();
    expect(find("[role=alert]").textContent).toBe(words);
    expect(texts("li")).toEqual([`Commit 0 ${HOSTILE} — Ada`]);
    expect(find("#status").textContent).toEqual(status);
    expect(states()).toEqual(["true", "false"]);
    find("#older").click();
    reads[1]?.settle(page(10));
    await settled();
    expect(find("[role=alert]").textContent).toBe("");
  });

  test("ends where there is no cursor", async () => {
    const { states } = await open(page(0));
    expect(states()).toEqual(["true", "true"]);
  });
});
