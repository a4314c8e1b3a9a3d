import { describe, expect, test } from "vitest";
import { carry } from "../../server/programs/carry.ts";
import { batchReply, reply, type Answer } from "../../server/programs/reply.ts";
import { Rests } from "../../server/programs/rests.ts";
import { fail, ok } from "../../server/shared/failure.ts";

const text = (value: string) => ({ type: "text", text: value });
const mcp = (...texts: string[]) => ({ kind: "mcp" as const, content: texts.map(text) });
const ROOM = { hold: () => undefined, correct: () => undefined };
const carried = (result: Parameters<typeof carry>[1], maxBytes = 1_000) =>
  carry("crm.read", result, maxBytes, new Rests(), ROOM);

describe("what a program gets of a tool result", () => {
  test.each([
    ["JSON with blanks, repeated names and odd numbers", '{ "a": 1e0,\n "a" : 2.50 }'],
    ["text that is no JSON", "plain {"],
    ["nothing", ""],
  ])("%s crosses as it came, unread", async (_, sent) => {
    const bytes = Buffer.byteLength(sent);
    expect(await carried(mcp(sent))).toEqual(ok({ kind: "text", text: sent, bytes }));
  });

  test("texts are joined; structured content and plain values are written as JSON", async () => {
    expect(await carried(mcp("[1,", "2]"))).toMatchObject({ value: { text: "[1,\n2]" } });
    expect(await carried({ ...mcp("1"), structuredContent: { é: 2 } })).toEqual(
      ok({ kind: "json", text: '{"é":2}', bytes: 8 }),
    );
    expect(await carried({ kind: "value", value: "é" })).toEqual(
      ok({ kind: "json", text: '"é"', bytes: 4 }),
    );
  });

  test.each([
    ["a value", { kind: "value" as const, value: "é".repeat(500) }, 1_002],
    ["a text", mcp("é".repeat(501)), 1_002],
  ])("L1: %s over the bound is refused by address, size and bound", async (_, result, bytes) => {
    expect(await carried(result, bytes)).toMatchObject({ ok: true });
    expect(await carried(result, bytes - 1)).toMatchObject({
      failure: { code: "result_too_large", address: "crm.read", bytes, maxBytes: bytes - 1 },
    });
  });

  test("an error of the tool stays an error", async () => {
    expect(await carried({ ...mcp("no"), isError: true })).toMatchObject({
      failure: { code: "connector_call_failed", message: "no" },
    });
  });
});

const json: Answer = { kind: "json", text: '{"n":1}', bytes: 7 };
const raw = (said: string): Answer => ({ kind: "text", text: said, bytes: said.length });

describe("replies", () => {
  test("JSON stands in the reply as it is", () => {
    expect(reply(json)).toBe('{"ok":true,"value":{"n":1}}');
    expect(batchReply([{ address: "a.b", answer: ok(json) }])).toBe(
      '{"ok":true,"value":[{"address":"a.b","ok":true,"data":{"n":1}}]}',
    );
  });

  test("a text follows a head that says its place and length", () => {
    const head = '{"ok":true,"texts":[{"at":-1,"chars":3,"text":""}],"value":null}';
    expect(reply(raw("[1]"))).toBe(`~000000${head.length}${head}[1]`);
  });

  test("the texts of a batch follow one another, between values and failures", () => {
    const refused = fail("unknown_tool", "No.");
    const said = batchReply([
      { address: "a.text", answer: ok(raw("[1]")) },
      { address: "a.json", answer: ok(json) },
      { address: "a.gone", answer: refused },
      { address: "a.more", answer: ok(raw("two")) },
    ]);
    const length = Number(said.slice(1, 9));
    expect(JSON.parse(said.slice(9, 9 + length))).toEqual({
      ok: true,
      texts: [
        { at: 0, chars: 3, text: "" },
        { at: 3, chars: 3, text: "" },
      ],
      value: [
        { address: "a.text", ok: true, data: null },
        { address: "a.json", ok: true, data: { n: 1 } },
        { address: "a.gone", ok: false, error: refused.failure },
        { address: "a.more", ok: true, data: null },
      ],
    });
    expect(said.slice(9 + length)).toBe("[1]two");
  });
});

describe("rests", () => {
  test("steps that were asked for at once come one by one, with others between them", async () => {
    const rests = new Rests();
    const order: string[] = [];
    const step = async (name: string) => {
      await rests.next();
      order.push(name);
      // Whatever was waiting when this step ran.
      setImmediate(() => order.push(`others after ${name}`));
    };
    await Promise.all([step("a"), step("b"), step("c")]);
    expect(order).toEqual(["a", "others after a", "b", "others after b", "c"]);
  });
});
