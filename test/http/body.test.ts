import { describe, expect, test } from "vitest";
import { readBody } from "../../server/http/body.ts";

/** A request whose body comes in pieces of a mebibyte, without an announced length. */
function streamed(mebibytes: number) {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ === mebibytes) controller.close();
      else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
    },
  });
  const init = { method: "POST", body, duplex: "half" };
  return { request: new Request("http://127.0.0.1/mcp", init as RequestInit), sent: () => sent };
}

function post(body: string): Request {
  const headers = { "content-length": String(body.length) };
  return new Request("http://127.0.0.1/mcp", { method: "POST", body, headers });
}

async function answer(request: Request) {
  const body = await readBody(request, 10_000);
  if (!(body instanceof Response)) throw new Error("accepted");
  const { error } = (await body.json()) as { error: { code: number } };
  return { status: body.status, code: error.code, connection: body.headers.get("connection") };
}

describe("request bodies", () => {
  test("JSON is read, announced or not", async () => {
    expect(await readBody(post('{"a":1}'), 10_000)).toEqual({ json: { a: 1 } });
    const stream = new Blob(['{"a":', "1}"]).stream();
    const init = { method: "POST", body: stream, duplex: "half" } as RequestInit;
    expect(await readBody(new Request("http://127.0.0.1/", init), 10_000)).toEqual({
      json: { a: 1 },
    });
  });

  test("JSON that would take long to read is refused unread", async () => {
    const brackets = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    expect(await answer(post(brackets))).toMatchObject({ status: 400, code: -32_600 });
    const keys = Array.from({ length: 20_000 }, (_, at) => `"key${at}":${at}`).join();
    const unknown = `{"jsonrpc":"2.0","id":1,"params":{"arguments":{${keys}}}}`;
    expect(await answer(post(unknown))).toMatchObject({ status: 400, code: -32_600 });
    const carried = `{"jsonrpc":"2.0","id":1,"params":{"arguments":{"args":{${keys}}}}}`;
    expect(await readBody(post(carried), 10_000)).toEqual({ json: JSON.parse(carried) as unknown });
  });

  test("a body that does not come within its time is given up", async () => {
    const never = new ReadableStream<Uint8Array>({ start() {} });
    const init = { method: "POST", body: never, duplex: "half" } as RequestInit;
    const late = await readBody(new Request("http://127.0.0.1/mcp", init), 20);
    if (!(late instanceof Response)) throw new Error("accepted");
    expect([late.status, late.headers.get("connection")]).toEqual([408, "close"]);
  });

  test("what is no JSON is a parse error", async () => {
    expect(await answer(post("{bad"))).toMatchObject({ status: 400, code: -32_700 });
    expect(await answer(post(""))).toMatchObject({ status: 400, code: -32_700 });
  });

  test("a body over the bound is read to its end, so that its sender hears the refusal", async () => {
    const { request, sent } = streamed(6);
    expect(await answer(request)).toEqual({ status: 413, code: -32_000, connection: null });
    expect(sent()).toBe(7);
  });

  test("an endless body is given up with its connection", async () => {
    const { request, sent } = streamed(1_000);
    expect(await answer(request)).toMatchObject({ status: 413, connection: "close" });
    expect(sent()).toBeLessThan(25);
  });
});
