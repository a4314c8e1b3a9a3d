import { describe, expect, test } from "vitest";
import { readToolList } from "../../../server/connectors/mcp/catalog.ts";
import { fail, ok } from "../../../server/shared/failure.ts";

const tools = (...names: string[]) => names.map((name) => ({ name, inputSchema: {} }));

/** Reads a list of these pages by cursor; the first has the cursor `undefined`. */
async function read(pages: ReadonlyMap<string | undefined, unknown>) {
  const asked: (string | undefined)[] = [];
  const outcome = await readToolList((cursor) => {
    asked.push(cursor);
    return Promise.resolve(ok(pages.get(cursor)));
  });
  return { asked, outcome };
}

const namesOf = (outcome: Awaited<ReturnType<typeof readToolList>>) =>
  outcome.ok ? outcome.value.tools.map(({ name }) => name) : outcome.failure.message;

describe("reading a downstream tool list", () => {
  test("C1: every cursor is followed exactly as it was given", async () => {
    const { asked, outcome } = await read(
      new Map([
        [undefined, { tools: tools("a"), nextCursor: " p=2&x " }],
        [" p=2&x ", { tools: [], nextCursor: "3" }],
        ["3", { tools: tools("b"), nextCursor: null }],
      ]),
    );
    expect(asked).toEqual([undefined, " p=2&x ", "3"]);
    expect(namesOf(outcome)).toEqual(["a", "b"]);
  });

  test("C1: an empty cursor is a cursor", async () => {
    const { asked, outcome } = await read(
      new Map([
        [undefined, { tools: tools("a"), nextCursor: "" }],
        ["", { tools: tools("b") }],
      ]),
    );
    expect(asked).toEqual([undefined, ""]);
    expect(namesOf(outcome)).toEqual(["a", "b"]);
  });

  test("C1: an empty cursor that leads to the same page again was the end", async () => {
    const page = { tools: tools("a"), nextCursor: "" };
    const { asked, outcome } = await read(
      new Map([
        [undefined, page],
        ["", page],
      ]),
    );
    expect(asked).toEqual([undefined, ""]);
    expect(namesOf(outcome)).toEqual(["a"]);
  });

  test.each([
    [
      "repeats a cursor",
      [
        [undefined, { tools: tools("a"), nextCursor: "x" }],
        ["x", { tools: tools("b"), nextCursor: "y" }],
        ["y", { tools: tools("c"), nextCursor: "x" }],
      ],
      "it repeats a cursor.",
    ],
    [
      "repeats an empty cursor with other tools",
      [
        [undefined, { tools: tools("a"), nextCursor: "" }],
        ["", { tools: tools("b"), nextCursor: "" }],
      ],
      "it repeats a cursor.",
    ],
    [
      "has a cursor that is a number",
      [[undefined, { tools: [], nextCursor: 2 }]],
      "it has a cursor that is no text.",
    ],
    ["has no list of tools", [[undefined, { tools: {} }]], "it has a page without tools."],
    ["is no object", [[undefined, "tools"]], "it has a page without tools."],
  ] as const)("C1: a list that %s is a failure", async (_, pages, message) => {
    const { outcome } = await read(new Map<string | undefined, unknown>(pages));
    expect(outcome).toMatchObject({
      ok: false,
      failure: { code: "catalog_lookup_failed", message },
    });
  });

  test("C1: a page that fails fails the list", async () => {
    let pages = 0;
    const outcome = await readToolList(() =>
      Promise.resolve(
        pages++ === 0 ? ok({ tools: tools("a"), nextCursor: "2" }) : fail("unavailable", "gone"),
      ),
    );
    expect(outcome).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  });

  test("C1: a list without an end stops at 500 pages", async () => {
    let pages = 0;
    const outcome = await readToolList(() =>
      Promise.resolve(ok({ tools: tools(`t${++pages}`), nextCursor: String(pages) })),
    );
    expect(pages).toBe(500);
    expect(outcome).toMatchObject({ failure: { message: "it has more than 500 pages." } });
  });

  test("C1: a list of more than 20,000 tools is a failure, one of 20,000 is not", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `t${index}`);
    const { outcome } = await read(new Map([[undefined, { tools: tools(...names) }]]));
    expect(namesOf(outcome)).toHaveLength(20_000);
    const more = await read(new Map([[undefined, { tools: tools(...names, "one") }]]));
    expect(namesOf(more.outcome)).toBe("it has more than 20000 tools.");
  });

  test("C1: a list of more than 32 MiB is a failure", async () => {
    const schema = { type: "object", description: "d".repeat(1024 * 1024) };
    const many = Array.from({ length: 33 }, (_, i) => ({ name: `t${i}`, inputSchema: schema }));
    const { outcome } = await read(new Map([[undefined, { tools: many }]]));
    expect(namesOf(outcome)).toBe("it is longer than 33554432 bytes.");
  });

  test("one bad tool does not sink a catalog", async () => {
    const entries = [...tools("a", "a", "b\n"), null, ...tools("c")];
    const { outcome } = await read(new Map([[undefined, { tools: entries }]]));
    expect(namesOf(outcome)).toEqual(["a", "c"]);
    expect(outcome.ok && outcome.value.aside).toEqual([
      { name: "a", reason: "An earlier tool has the same name." },
      { name: "b?", reason: "Its name has control characters." },
      { name: "(no name)", reason: "It is no object." },
    ]);
  });
});
