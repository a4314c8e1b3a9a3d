import { describe, expect, test } from "vitest";
import type { Executor } from "../../server/shared/contracts.ts";
import { unwrapCall } from "../../shell/src/unwrap.ts";
import {
  call,
  deploy,
  messages,
  payloadOf,
  PROGRAM,
  rendered,
  send,
  SHARED,
  ticketDesk,
  type Sent,
} from "./ticket-desk.ts";

describe("V5: of the seven tools a view reaches one", () => {
  test("which alone is visible to views and reaches none of the others", async () => {
    const { desk, connecta } = await rendered();
    const body = await (await send(connecta, "tools/list", {})).text();
    const { tools } = (JSON.parse(messages(body)[0] ?? "") as { result: { tools: unknown[] } })
      .result as { tools: { name: string; _meta: { ui: { visibility: string[] } } }[] };
    const visible = tools.filter(({ _meta }) => _meta.ui.visibility.includes("app"));
    expect([tools.length, visible.map(({ name }) => name)]).toEqual([7, ["call_tool"]]);
    for (const { name } of tools) {
      for (const address of [name, `connecta.${name}`]) {
        const answer = await call(connecta, "call_tool", { address, resultMode: "value" });
        expect(unwrapCall(answer)).toMatchObject({ error: { code: "unknown_address" } });
      }
    }
    const args = { address: "desk.close", access: "write", reason: "please" };
    expect(unwrapCall(await call(connecta, "call_tool", args))).toMatchObject({ ok: false });
    expect(desk.writes).toEqual([]);
  });
});

describe("V8: a view with reads beside the conversation", () => {
  test("the model reads the first summary, and neither page, names nor addresses", async () => {
    const { connecta } = await rendered();
    const { content, structuredContent } = await call(connecta, "execute_code", { code: PROGRAM });
    expect(structuredContent).toEqual({ result: { shown: 1 }, ui: true });
    expect(content).toEqual([{ type: "text", text: '{"result":{"shown":1},"ui":true}' }]);
  });

  test("the guide for authors asks them to say what was refreshed, and when", async () => {
    const { connecta } = await rendered();
    const { structuredContent } = await call(connecta, "skills", { name: "usage" });
    expect(structuredContent?.guide).toContain("say what was refreshed and when");
  });

  test("U7: an executor that knows code and providers alone delivers the same", async () => {
    const results: object[] = [];
    const stranger: Executor = {
      async execute(code, providers) {
        const { result, error, logs } = await SHARED.execute(code, providers);
        results.push({ result, error });
        return { result, ...(error !== undefined && { error }), ...(logs && { logs }) };
      },
    };
    const desk = ticketDesk();
    const [strange, ordinary] = [
      deploy([desk.connector()], { executor: stranger }),
      deploy([desk.connector()]),
    ];
    const code = PROGRAM;
    const answer = await call(strange, "execute_code", { code });
    expect(answer).toEqual(await call(ordinary, "execute_code", { code }));
    expect(payloadOf(answer)?.reads).toHaveProperty("page");
    // The view went over the bridge: what an executor hands back knows nothing of it.
    expect(JSON.stringify(results)).toContain("shown");
    expect(JSON.stringify(results)).not.toMatch(/Tickets|desk\.list/);
  });
});

describe("U8: a view exists in one finished answer", () => {
  test("which comes whole, after the program's end, though ui resolved long before", async () => {
    const desk = ticketDesk();
    const connecta = deploy([desk.connector()]);
    const order: string[] = [];
    desk.onRead = () => order.push("read");
    const code = `await connecta.ui("<h1>Tickets</h1>"); await desk.list(); return 1`;
    const response = await send(connecta, "tools/call", {
      name: "execute_code",
      arguments: { code },
    });
    let body = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      body += chunk;
      if (chunk.includes("Tickets")) order.push("view");
    }
    expect(order).toEqual(["read", "view"]);
    expect(messages(body)).toHaveLength(1);
  });

  test("and in no other, whether programs run side by side or one after another", async () => {
    const connecta = deploy([ticketDesk().connector()]);
    const run = (code: string) => call(connecta, "execute_code", { code });
    const page = (text: string) => `await connecta.ui(${JSON.stringify(text)}); return 1`;
    const answers = await Promise.all([
      run(page("one")),
      run("return 1"),
      run(page("two")),
      run(`await connecta.ui("lost"); throw new Error("no")`),
    ]);
    const later = await run("return 1");
    expect([...answers, later].map((answer) => payloadOf(answer)?.html)).toEqual([
      "one",
      undefined,
      "two",
      undefined,
      undefined,
    ]);
    expect(later).toEqual(answers[1]);
    const { result } = JSON.parse(
      messages(await (await send(connecta, "resources/list", {})).text())[0] ?? "",
    ) as { result: { resources: unknown[] } };
    expect(result.resources).toEqual([]);
  });
});

describe("U10: what a client can do changes nothing", () => {
  const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } } };

  test("the tools are the same for one that shows views and one that does not", async () => {
    const connecta = deploy([ticketDesk().connector()]);
    const list = async (capabilities: object) =>
      (await send(connecta, "tools/list", {}, { capabilities })).text();
    const [without, withApps] = [await list({}), await list(APPS)];
    expect(withApps).toBe(without);
    expect(without).toContain('"resourceUri":"ui://connecta/program-ui/v');
  });

  test("and so is the answer of a program: ui never fails for want of a host", async () => {
    const connecta = deploy([ticketDesk().connector()]);
    const run = (sent?: Sent) => call(connecta, "execute_code", { code: PROGRAM }, sent);
    const [without, withApps] = [
      await run({ capabilities: {} }),
      await run({ capabilities: APPS }),
    ];
    expect(withApps).toEqual(without);
    const { content, structuredContent } = await run();
    expect(without).toMatchObject({ content, structuredContent });
    expect(payloadOf(without)).toEqual(payloadOf(await run()));
  });
});
