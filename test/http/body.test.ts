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
  const body = await readBody(request);
  if (!(body instanceof Response)) throw new Error("accepted");
  const { error } = (await body.json()) as { error: { code: number } };
  return { status: body.status, code: error.code, connection: body.headers.get("connection") };
}

describe("request bodies", () => {
  test("JSON is read, announced or not", async () => {
    expect(await readBody(post('{"a":1}'))).toEqual({ json: { a: 1 } });
    const stream = new Blob(['{"a":', "1}"]).stream();
    const init = { method: "POST", body: stream, duplex: "half" } as RequestInit;
    expect(await readBody(new Request("http://127.0.0.1/", init))).toEqual({ json: { a: 1 } });
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
