import { describe, expect, test } from "vitest";
import { Stash } from "../../server/invoke/stash.ts";
import { testScope } from "../support/scope.ts";

/** A generator with a seed, so that a failure can be had again (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** One, two, three and four bytes; marks; characters that join; halves of pairs; the edges. */
const PIECES = [
  ..."a\u0000\u007f\u0080é\u07ff\u0800漢\u0301\u200d\uffff\ufeff\ufffd\ud7ff\ue000",
  "😀",
  "\u{10ffff}",
  "\u{10000}",
  "\ud800",
  "\udbff",
  "\udc00",
  "\udfff",
  "\udc00\ud800",
  '"\\\n',
];

const textOf = (random: (below: number) => number) =>
  Array.from({ length: random(120) }, () => PIECES[random(PIECES.length)]).join("");

/** Bytes that a text takes when halves of pairs take three like their neighbours. */
const bytesOf = (text: string) =>
  [...text].reduce((sum, each) => {
    const code = each.codePointAt(0) ?? 0;
    return sum + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
  }, 0);

function keep(stash: Stash, text: string, scope = testScope()) {
  const kept = stash.keep("crm.list", text, scope);
  if (!kept.ok) throw new Error(kept.failure.message);
  return kept.value;
}

/** Makes each call as it is given, until none is. */
function follow(stash: Stash, text: string, maxBytes: number) {
  const { resultId: id, totalBytes } = keep(stash, text);
  const pages: string[] = [];
  let args: Readonly<Record<string, unknown>> | undefined = { id, offset: 0, maxBytes };
  while (args) {
    const page = stash.page(
      args.id as string,
      args.offset as number,
      args.maxBytes as number,
      testScope(),
    );
    if (!page.ok) throw new Error(page.failure.message);
    expect(page.value.totalBytes).toBe(totalBytes);
    pages.push(page.value.text);
    args = page.value.nextAction?.arguments;
    expect(args?.offset).toBe(page.value.nextOffset);
  }
  return { pages, totalBytes };
}

describe("I5: paging", () => {
  test.each(Array.from({ length: 300 }, (_, seed) => seed))(
    "random text %i comes back to the last unit, whatever the size of pages",
    (seed) => {
      const random = seeded(seed);
      const text = textOf(random);
      const maxBytes = 1 + random(40);
      const { pages, totalBytes } = follow(new Stash(), text, maxBytes);
      expect(pages.join("")).toBe(text);
      expect(totalBytes).toBe(bytesOf(text));
      for (const [at, page] of pages.entries()) {
        expect(bytesOf(page)).toBeLessThanOrEqual(
          Math.max(maxBytes, [...page].length === 1 ? 4 : 0),
        );
        if (text !== "") expect(page, `page ${at}`).not.toBe("");
      }
    },
  );

  test("a preview is the start of the text, and splits no character", () => {
    for (const piece of PIECES) {
      const text = piece.repeat(3_000);
      const { preview } = keep(new Stash(), text);
      expect(text.startsWith(preview)).toBe(true);
      expect(bytesOf(preview)).toBeGreaterThan(1_996);
      expect(bytesOf(preview)).toBeLessThanOrEqual(2_000);
    }
  });

  test("what JSON writes of a page is what a client reads", () => {
    const { pages } = follow(new Stash(), PIECES.join(""), 3);
    const wire = pages.map((page) => JSON.parse(JSON.stringify(page)) as string);
    expect(wire.join("")).toBe(PIECES.join(""));
  });

  test("the next call asks for pages of the same size", () => {
    const stash = new Stash();
    const { resultId: id } = keep(stash, "x".repeat(60_000));
    expect(stash.page(id, 0, 7, testScope())).toMatchObject({
      value: { nextAction: { tool: "get_result", arguments: { id, offset: 7, maxBytes: 7 } } },
    });
    const usual = stash.page(id, 0, 50_000, testScope());
    expect(usual.ok && usual.value.nextAction?.arguments).toEqual({ id, offset: 50_000 });
    const last = stash.page(id, 50_000, 50_000, testScope());
    expect(last.ok && [last.value.nextOffset, last.value.nextAction]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("I5: results that are kept", () => {
  const ada = testScope({ principal: "ada" });
  const bob = testScope({ principal: "bob" });
  const MEBIBYTE = 1024 * 1024;
  const isThere = (stash: Stash, id: string, scope: typeof ada) => stash.page(id, 0, 1, scope).ok;

  test("a caller who keeps many pushes out their own, not what others keep", () => {
    const stash = new Stash();
    const { resultId } = keep(stash, "bob's", bob);
    const ids = Array.from({ length: 200 }, (_, at) => keep(stash, `ada's ${at}`, ada).resultId);
    expect(isThere(stash, resultId, bob)).toBe(true);
    expect(ids.filter((id) => isThere(stash, id, ada))).toEqual(ids.slice(-63));
  });

  test("a caller who keeps large ones pushes out their own too", () => {
    const stash = new Stash();
    const { resultId } = keep(stash, "x".repeat(MEBIBYTE), bob);
    const large = "y".repeat(15 * MEBIBYTE);
    const ids = Array.from({ length: 6 }, () => keep(stash, large, ada).resultId);
    expect(isThere(stash, resultId, bob)).toBe(true);
    expect(ids.filter((id) => isThere(stash, id, ada))).toEqual(ids.slice(-4));
  });

  test("who holds the most makes room for somebody new", () => {
    const stash = new Stash();
    const ids = Array.from({ length: 64 }, (_, at) => keep(stash, `ada's ${at}`, ada).resultId);
    const { resultId } = keep(stash, "bob's", bob);
    expect(isThere(stash, resultId, bob)).toBe(true);
    expect(isThere(stash, ids[0] ?? "", ada)).toBe(false);
    expect(isThere(stash, ids[1] ?? "", ada)).toBe(true);
  });

  test("one over 16 MiB is not kept, and pushes nothing out", () => {
    const stash = new Stash();
    const { resultId } = keep(stash, "x", ada);
    expect(stash.keep("crm.list", "y".repeat(16 * MEBIBYTE + 1), ada)).toMatchObject({
      failure: { code: "result_too_large", bytes: 16 * MEBIBYTE + 1, maxBytes: 16 * MEBIBYTE },
    });
    expect(isThere(stash, resultId, ada)).toBe(true);
  });

  test("time frees room: what has expired counts for nobody", () => {
    const stash = new Stash();
    const then = testScope({ principal: "ada", now: () => 0 });
    for (let at = 0; at < 64; at++) keep(stash, "old", then);
    const later = testScope({ principal: "bob", now: () => 900_000 });
    const ids = Array.from({ length: 64 }, () => keep(stash, "new", later).resultId);
    expect(ids.every((id) => isThere(stash, id, later))).toBe(true);
  });
});
