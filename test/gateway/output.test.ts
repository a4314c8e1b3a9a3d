import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtureGateway, programs, type Fixture } from "../support/gateway.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway();
});
afterAll(() => fixture.connecta.close());

const { run, result } = programs(() => fixture);

describe("emitted output and views", () => {
  test("M1, M2: blocks follow the envelope in order", async () => {
    const code = `async () => {
      await connecta.emit({ type: "text", text: "one" });
      await connecta.emit({ type: "image", data: "AAAA", mimeType: "image/png" });
      return 1;
    }`;
    const answer = await run(code);
    expect(answer.structuredContent).toEqual({ result: 1, emitted: 2 });
    expect(answer.content.slice(1)).toEqual([
      { type: "text", text: "one" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ]);
  });

  test.each([
    ["an extra field", '{ type: "text", text: "a", uri: "x" }'],
    ["a resource", '{ type: "resource", resource: { uri: "file:///etc/passwd", text: "" } }'],
    ["a link", '{ type: "resource_link", uri: "https://x.example", name: "x" }'],
    ["base64 of no whole group", '{ type: "image", data: "a", mimeType: "image/png" }'],
    ["base64 with a wrong end", '{ type: "image", data: "aGk==", mimeType: "image/png" }'],
    ["data that is no base64", '{ type: "image", data: "<>", mimeType: "image/png" }'],
    ["a foreign MIME type", '{ type: "image", data: "AAAA", mimeType: "text/html" }'],
    ["no object", '"text"'],
  ])("M1: %s is refused and nothing accepted", async (_, block) => {
    const answer = await run(
      `async () => { try { await connecta.emit(${block}) } catch (e) { return e.code } }`,
    );
    expect(answer.structuredContent).toEqual({ result: "invalid_args" });
  });

  test("M3: refused blocks and views are bounded like accepted ones", async () => {
    const code = `let refused = 0;
      for (;;) try { await connecta.ui("") } catch (e) {
        if (e.code === "budget_exceeded") return refused;
        refused++;
      }`;
    expect((await run(`async () => {${code}}`)).structuredContent).toEqual({ result: 64 });
  });

  test("U2: of two views asked for at once the first stands, with or without reads", async () => {
    const answer = await run(`async () => {
      const reads = { a: { address: "crm.get_record" } };
      const both = await Promise.allSettled([connecta.ui("1", { reads }), connecta.ui("2")]);
      return both.map(({ status }) => status);
    }`);
    expect(answer.structuredContent?.result).toEqual(["fulfilled", "rejected"]);
    expect(answer._meta).toMatchObject({ "connecta/ui": { html: "1" } });
  });

  test("M3: the thirty-third block is over budget", async () => {
    const code = `async () => { for (let i = 0; i < 33; i++) await connecta.emit({ type: "text", text: "x" }) }`;
    const answer = await run(code);
    expect(answer.structuredContent).toMatchObject({
      error: { code: "budget_exceeded", budget: "maxEmittedBlocks" },
      emittedDiscarded: 32,
    });
  });

  test("U3: a view rides in _meta, the model reads only ui: true", async () => {
    const answer = await run(
      'async () => { await connecta.ui("<p>hi</p>"); return "shown" }',
      true,
    );
    expect(answer._meta).toEqual({ "connecta/ui": { html: "<p>hi</p>" } });
    expect(answer.structuredContent).toMatchObject({ result: "shown", ui: true });
    expect(answer.structuredContent?.diagnostics).toMatchObject({ ui: 20 });
    expect(JSON.stringify([answer.content, answer.structuredContent])).not.toContain("<p>");
  });

  test("U2: a second view is refused, the first stands", async () => {
    const code = `async () => {
      await connecta.ui("<p>1</p>");
      try { await connecta.ui("<p>2</p>") } catch (e) { return e.code }
    }`;
    const answer = await run(code);
    expect(answer.structuredContent).toMatchObject({ result: "invalid_args", ui: true });
    expect(answer._meta).toEqual({ "connecta/ui": { html: "<p>1</p>" } });
  });

  test.each(['""', "5", "{ html: '<p>' }", "'<p>', {}", "'<p>', { reads: {} }", "'<p>', 1"])(
    "U1, V1: connecta.ui(%s) is refused and nothing accepted",
    async (args) => {
      const answer = await run(
        `async () => { try { await connecta.ui(${args}) } catch (e) { return e.code } }`,
      );
      expect(answer.structuredContent).toEqual({ result: "invalid_args" });
    },
  );

  test("U3: a failing program delivers neither blocks nor view, and says what was dropped", async () => {
    const answer = await run(`async () => {
      await connecta.emit({ type: "text", text: "a" });
      await connecta.ui("<p>hi</p>");
      throw new Error("late");
    }`);
    expect(answer.structuredContent).toMatchObject({ emittedDiscarded: 1, uiDiscarded: true });
    expect(answer._meta).toBeUndefined();
    expect(answer.content).toHaveLength(1);
    const quiet = await run('async () => { throw new Error("no") }');
    expect(Object.keys(quiet.structuredContent ?? {})).toEqual(["error"]);
  });

  test("U4: a view spends the emitted bytes; over budget names the room left", async () => {
    const answer = await run(`async () => {
      await connecta.emit({ type: "text", text: "x".repeat(3000000) });
      try { await connecta.ui("y".repeat(1000000)) } catch (e) { return [e.code, e.budget, e.remaining] }
    }`);
    expect(answer.structuredContent?.result).toEqual([
      "budget_exceeded",
      "maxEmittedBytes",
      999_975,
    ]);
    const whole = await run('async () => { await connecta.ui("y".repeat(3999989)); return 1 }');
    expect(whole.structuredContent).toEqual({ result: 1, ui: true });
    const over = await run('async () => { await connecta.ui("y".repeat(3999990)); return 1 }');
    expect(over.structuredContent).toMatchObject({ error: { code: "budget_exceeded" } });
    const far = await run('async () => { await connecta.ui("y".repeat(9000000)); return 1 }');
    expect(far.structuredContent).toMatchObject({
      error: { code: "budget_exceeded", remaining: 4_000_000 },
    });
  });

  test("V2, V3: reads are admitted when declared, and ride beside the html", async () => {
    const reads = '{ refresh: { address: "crm.get_record", fixedArgs: { id: "r1" } } }';
    const answer = await run(
      `async () => { await connecta.ui("<p>", { reads: ${reads} }); return 1 }`,
    );
    expect(answer._meta).toEqual({
      "connecta/ui": {
        html: "<p>",
        reads: { refresh: { address: "crm.get_record", fixedArgs: { id: "r1" } } },
      },
    });
  });

  test.each([
    ["crm.update_record", "destructive_tool_requires_approval"],
    ["crm.nope", "unknown_tool"],
    ["nope.nope", "unknown_address"],
  ])("V2: a read of %s is refused with %s, and spends no host call", async (address, code) => {
    const body = `
      try { await connecta.ui("<p>", { reads: { a: { address: "${address}" } } }) } catch (e) {
        for (let i = 0; i < 20; i++) await crm.get_record({ id: "r" });
        return e.code;
      }`;
    expect(await result(`async () => {${body}}`)).toBe(code);
  });

  test("a truncated return, blocks and a view come together", async () => {
    const answer = await run(`async () => {
      await connecta.emit({ type: "text", text: "a" });
      await connecta.ui("<p>hi</p>");
      return "z".repeat(30000);
    }`);
    expect(answer.structuredContent).toMatchObject({
      result: { truncated: true },
      emitted: 1,
      ui: true,
    });
    expect(answer._meta).toEqual({ "connecta/ui": { html: "<p>hi</p>" } });
    expect(answer.content).toHaveLength(2);
  });
});
