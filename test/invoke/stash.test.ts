import { describe, expect, test } from "vitest";
import { Stash } from "../../server/invoke/stash.ts";
import { toUtf8 } from "../../server/shared/text.ts";
import { testScope } from "../support/scope.ts";

function keep(stash: Stash, text: string, scope = testScope()): string {
  const kept = stash.keep("crm.list", text, scope);
  if (!kept.ok) throw new Error(kept.failure.message);
  return kept.value.resultId;
}

describe("stashed results", () => {
  test("I5: following nextOffset blindly gives back the identical bytes, characters whole", () => {
    const text = "grüße 漢字 😀 ".repeat(500);
    const stash = new Stash();
    const id = keep(stash, text);
    let offset: number | undefined = 0;
    let read = "";
    let pages = 0;
    while (offset !== undefined) {
      const page = stash.page(id, offset, 1_001, testScope());
      if (!page.ok) throw new Error(page.failure.message);
      expect(toUtf8(page.value.text).length).toBeLessThanOrEqual(1_001);
      expect(page.value.text).not.toContain("\ufffd");
      read += page.value.text;
      offset = page.value.nextOffset;
      pages++;
    }
    expect(read).toBe(text);
    expect(pages).toBe(10);
  });

  test("I5: the announcement holds the exact next call", () => {
    const kept = new Stash().keep("crm.list", "x".repeat(60_000), testScope());
    expect(kept).toMatchObject({
      ok: true,
      value: { truncated: true, totalBytes: 60_000, nextAction: { tool: "get_result" } },
    });
    if (kept.ok) {
      expect(kept.value.nextAction.arguments).toEqual({ id: kept.value.resultId, offset: 0 });
    }
  });

  test("I5: another principal's result does not exist, the caller's own does", () => {
    const stash = new Stash();
    const id = keep(stash, "secret", testScope({ principal: "alice" }));
    expect(stash.page(id, 0, 10, testScope({ principal: "bob" }))).toMatchObject({
      failure: { code: "not_found" },
    });
    expect(stash.page(id, 0, 10, testScope({ principal: "alice" }))).toMatchObject({
      value: { text: "secret" },
    });
  });

  test("I5: a result expires after fifteen minutes, not before", () => {
    const stash = new Stash();
    const id = keep(stash, "text", testScope({ now: () => 0 }));
    expect(stash.page(id, 0, 10, testScope({ now: () => 899_999 })).ok).toBe(true);
    expect(stash.page(id, 0, 10, testScope({ now: () => 900_000 })).ok).toBe(false);
  });

  test("I5: the oldest of more than 64 results makes room", () => {
    const stash = new Stash();
    const ids = Array.from({ length: 65 }, (_, i) => keep(stash, `result ${i}`));
    expect(stash.page(ids[0] ?? "", 0, 10, testScope()).ok).toBe(false);
    expect(stash.page(ids[1] ?? "", 0, 10, testScope()).ok).toBe(true);
  });

  test("I5: an offset inside a character or beyond the end is refused", () => {
    const stash = new Stash();
    const id = keep(stash, "漢字");
    expect(stash.page(id, 1, 10, testScope())).toMatchObject({ failure: { code: "invalid_args" } });
    expect(stash.page(id, 7, 10, testScope())).toMatchObject({ failure: { code: "invalid_args" } });
    expect(stash.page(id, 6, 10, testScope())).toMatchObject({ value: { text: "" } });
  });
});
