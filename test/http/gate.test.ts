import { describe, expect, test } from "vitest";
import { bearer } from "../../server/access/inbound/bearer.ts";
import { firstThatAdmits } from "../../server/access/inbound/verdict.ts";
import { passGate, refuseForeignHost, type GateOptions } from "../../server/http/gate.ts";

const OPEN: GateOptions = { authenticate: undefined, allowedHosts: undefined, allowedOrigins: [] };

function request(headers: Record<string, string> = {}, method = "POST"): Request {
  const init = { method, headers: { host: "127.0.0.1:8787", ...headers } };
  return new Request(
    "http://127.0.0.1:8787/mcp",
    method === "POST" ? { ...init, body: "{}" } : init,
  );
}

async function status(given: Request, options: GateOptions = OPEN): Promise<number> {
  const foreign = refuseForeignHost(given, options);
  if (foreign) return foreign.status;
  const passed = await passGate(given, options);
  return passed instanceof Response ? passed.status : 200;
}

describe("the gate before MCP", () => {
  test.each(["GET", "DELETE", "HEAD", "OPTIONS", "PUT"])(
    "G1: %s answers 405 with Allow: POST",
    async (method) => {
      const passed = await passGate(request({}, method), OPEN);
      expect(passed).toBeInstanceOf(Response);
      if (passed instanceof Response) {
        expect(passed.status).toBe(405);
        expect(passed.headers.get("allow")).toBe("POST");
      }
    },
  );

  test("a foreign Host is refused, loopback names pass", async () => {
    expect(await status(request({ host: "evil.example" }))).toBe(403);
    expect(await status(request({ host: "localhost:8787" }))).toBe(200);
    expect(await status(request({ host: "[::1]:8787" }))).toBe(200);
  });

  test("a foreign Origin is refused, another port of the same host too; its own passes", async () => {
    expect(await status(request({ origin: "https://evil.example" }))).toBe(403);
    expect(await status(request({ origin: "http://127.0.0.1:8788" }))).toBe(403);
    expect(await status(request({ origin: "null" }))).toBe(403);
    expect(await status(request({ origin: "http://127.0.0.1:8787" }))).toBe(200);
  });

  test("a listed Host and Origin pass", async () => {
    const options = {
      ...OPEN,
      allowedHosts: ["mcp.example"],
      allowedOrigins: ["https://app.example"],
    };
    expect(
      await status(request({ host: "mcp.example", origin: "https://app.example" }), options),
    ).toBe(200);
    expect(await status(request({ host: "127.0.0.1:8787" }), options)).toBe(403);
  });

  test("with a bearer only the exact token passes, and the challenge names the scheme", async () => {
    const options = {
      ...OPEN,
      authenticate: firstThatAdmits([bearer("correct-horse-battery")], () => {}),
    };
    expect(await status(request(), options)).toBe(401);
    expect(await status(request({ authorization: "Bearer correct-horse-batterz" }), options)).toBe(
      401,
    );
    expect(await status(request({ authorization: "Basic correct-horse-battery" }), options)).toBe(
      401,
    );
    expect(await status(request({ authorization: "Bearer correct-horse-battery" }), options)).toBe(
      200,
    );
    const refused = await passGate(request(), options);
    if (refused instanceof Response) expect(refused.headers.get("www-authenticate")).toBe("Bearer");
  });
});
