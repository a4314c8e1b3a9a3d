import { describe, expect, test } from "vitest";
import { createConnecta, type Connecta, type ConnectaConfig } from "../../server/index.ts";

const executor = { execute: () => Promise.resolve({ result: undefined }) };
const PAGE = "https://app.example";
const OAUTH = { oauth: { issuer: "https://issuer.example", scopes: ["mcp:call"] } } as const;

function gateway(config: Partial<ConnectaConfig> = {}): Connecta {
  return createConnecta({
    connectors: [],
    executor,
    http: { allowedOrigins: [PAGE] },
    auth: { bearer: "correct-horse-battery" },
    ...config,
  });
}

function ask(
  connecta: Connecta,
  path: string,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<Response> {
  const all = { host: "127.0.0.1:8787", ...headers };
  return connecta.fetch(new Request(`http://127.0.0.1:8787${path}`, { method, headers: all }));
}

const PREFLIGHT = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
};

function cors({ headers }: Response): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"),
  );
}

describe("a page in a browser", () => {
  test("of a listed origin may send what MCP clients send, and nothing by cookie", async () => {
    const response = await ask(gateway(), "/mcp", { origin: PAGE, ...PREFLIGHT }, "OPTIONS");
    expect(response.status).toBe(204);
    expect(cors(response)).toEqual({
      "access-control-allow-origin": PAGE,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers":
        "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, " +
        "mcp-session-id, last-event-id",
      "access-control-expose-headers": "www-authenticate, retry-after",
      "access-control-max-age": "600",
      vary: "origin",
    });
  });

  test.each(["https://evil.example", "null", `${PAGE}.evil.example`, "http://app.example"])(
    "of the origin %s may not even ask",
    async (origin) => {
      const response = await ask(gateway(), "/mcp", { origin, ...PREFLIGHT }, "OPTIONS");
      expect([response.status, cors(response)]).toEqual([405, {}]);
      const sent = await ask(gateway(), "/mcp", { origin });
      expect([sent.status, cors(sent)]).toEqual([403, {}]);
    },
  );

  test("of no other origin may, where none is listed", async () => {
    const connecta = gateway({ http: {} });
    const response = await ask(connecta, "/mcp", { origin: PAGE, ...PREFLIGHT }, "OPTIONS");
    expect([response.status, cors(response)]).toEqual([405, {}]);
  });

  test.each<[string, number, Record<string, string>, string]>([
    ["a missing token", 401, {}, "POST"],
    ["a missing media type", 415, { authorization: "Bearer correct-horse-battery" }, "POST"],
    ["a method that is none of ours", 405, {}, "GET"],
  ])("reads the refusal of %s", async (_, status, headers, method) => {
    const response = await ask(gateway(), "/mcp", { origin: PAGE, ...headers }, method);
    expect(response.status).toBe(status);
    expect(cors(response)["access-control-allow-origin"]).toBe(PAGE);
    expect(cors(response)).not.toHaveProperty("access-control-allow-credentials");
  });

  test("that the deployment serves itself may call, behind a proxy too", async () => {
    const publicUrl = "https://mcp.example.com/connecta";
    const headers = { origin: "https://mcp.example.com" };
    const response = await ask(gateway({ publicUrl, http: {} }), "/mcp", headers);
    expect(response.status).toBe(401);
  });
});

describe("where to sign in", () => {
  const DOCUMENT = {
    resource: "https://mcp.example.com/mcp",
    authorization_servers: ["https://issuer.example"],
    scopes_supported: ["mcp:call"],
    bearer_methods_supported: ["header"],
    resource_name: "connecta",
  };
  const signIn = (publicUrl = "https://mcp.example.com/") => gateway({ auth: OAUTH, publicUrl });
  const WELL_KNOWN = "/.well-known/oauth-protected-resource";

  test.each([WELL_KNOWN, `${WELL_KNOWN}/mcp`])(
    "%s says it to everybody, from any page and without a token",
    async (path) => {
      const response = await ask(signIn(), path, { origin: "https://any.example" }, "GET");
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(DOCUMENT);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      const asked = { origin: "https://any.example", "access-control-request-method": "GET" };
      const preflight = await ask(signIn(), path, asked, "OPTIONS");
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
      expect((await ask(signIn(), path, {}, "POST")).status).toBe(405);
    },
  );

  test("a path that a proxy puts before it belongs to the resource", async () => {
    const connecta = signIn("https://example.com/connecta");
    for (const path of [`${WELL_KNOWN}/mcp`, `${WELL_KNOWN}/connecta/mcp`]) {
      const document = (await (await ask(connecta, path, {}, "GET")).json()) as object;
      expect(document).toMatchObject({ resource: "https://example.com/connecta/mcp" });
    }
    const refused = await ask(connecta, "/mcp");
    expect(refused.headers.get("www-authenticate")).toContain(
      `resource_metadata="https://example.com/connecta${WELL_KNOWN}/mcp"`,
    );
  });

  test("nothing is said of other paths, nor where nobody signs in", async () => {
    expect((await ask(signIn(), `${WELL_KNOWN}/other`, {}, "GET")).status).toBe(404);
    expect((await ask(gateway(), WELL_KNOWN, {}, "GET")).status).toBe(404);
  });
});
