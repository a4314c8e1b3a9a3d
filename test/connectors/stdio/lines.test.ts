import { describe, expect, test } from "vitest";
import { idOf, Lines, type LongLine } from "../../../server/connectors/stdio/lines.ts";

/** What comes out of these chunks. */
function cut(chunks: readonly (string | Buffer)[], maxBytes = 1_000) {
  const lines: string[] = [];
  const long: LongLine[] = [];
  const reader = new Lines(maxBytes, {
    line: (text) => lines.push(text),
    longLine: (line) => long.push(line),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  return { lines, long };
}

describe("lines of a process", () => {
  test("are whole whatever the chunks are", () => {
    expect(cut(["a\nb", "c", "\n\nd\r\ne"]).lines).toEqual(["a", "bc", "", "d"]);
    const text = "ünï🔥cödé\n";
    const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    expect(cut(bytes).lines).toEqual(["ünï🔥cödé"]);
  });

  test("that are no UTF-8 come with replacement characters, and the next one is whole", () => {
    expect(cut([Buffer.from([0x61, 0xff, 0xc3, 0x0a]), "b\n"]).lines).toEqual([
      "a\uFFFD\uFFFD",
      "b",
    ]);
  });

  test("of exactly the bound are kept, one byte more is not", () => {
    expect(cut([`${"x".repeat(1_000)}\n`]).lines).toHaveLength(1);
    const { lines, long } = cut([`${"x".repeat(1_001)}\nshort\n`]);
    expect(lines).toEqual(["short"]);
    expect(long).toMatchObject([{ bytes: 1_001 }]);
  });

  test("that are too long keep only their ends, however they come", () => {
    const line = `{"jsonrpc":"2.0","result":"${"x".repeat(100_000)}","id":7}`;
    for (const size of [7, 997, 200_000]) {
      const chunks = (`${line}\n`.match(new RegExp(`.{1,${size}}\n?|\n`, "gs")) ?? []).map(String);
      const { lines, long } = cut(chunks);
      expect(lines).toEqual([]);
      expect(long).toMatchObject([{ bytes: line.length }]);
      expect(long[0]?.head).toHaveLength(256);
      expect(long[0]?.tail).toHaveLength(256);
      expect(long[0] && idOf(long[0])).toBe(7);
    }
  });
});

describe("the id of a line that was too long", () => {
  const line = (head: string, tail: string): LongLine => ({ head, tail, bytes: 1_000_000 });

  test.each([
    ["at the beginning", '{"jsonrpc":"2.0","id":12,"result":{"content":[', 'x"}]}}', 12],
    ["first of all", '{ "id": 12, "jsonrpc": "2.0", "result": {', "}}", 12],
    ["at the end", '{"result":{"content":[', 'x"}]},"jsonrpc":"2.0","id":12}', 12],
    ["at the end, before the version", '{"result":{', '},"id":12,"jsonrpc":"2.0"}\r', 12],
    ["within the result only", '{"result":{"id":12,', '"a":{"id":12}},"jsonrpc":"2.0"}', undefined],
    ["a text, as ours never are", '{"jsonrpc":"2.0","id":"12","result":', "}", undefined],
    ["nowhere", "xxxx", "xxxx", undefined],
  ])("%s", (_, head, tail, id) => {
    expect(idOf(line(head, tail))).toBe(id);
  });
});
