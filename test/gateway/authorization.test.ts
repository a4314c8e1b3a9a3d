import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newVaultKey } from "../../server/access/keys.ts";
import {
  api,
  createConnecta,
  memoryStorage,
  remoteMcp,
  type ConnectaConfig,
} from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { startIssuer, visit, type Issuer } from "../support/authorization/issuer.ts";
import { startResource, type Resource } from "../support/authorization/resource.ts";
import { callTool } from "../support/gateway.ts";

let issuer: Issuer;
let resource: Resource;
beforeAll(async () => {
  issuer = await startIssuer();
  resource = await startResource(issuer);
});
afterAll(async () => {
  await resource.close();
  await issuer.close();
});

const ORIGIN = "http://127.0.0.1:8787";
const KEY = newVaultKey();

function deployed(config: Partial<ConnectaConfig> = {}, lent = { addresses: () => [ORIGIN] }) {
  const executor = quickjsExecutor({ processes: 1 });
  return createConnecta(
    {
      connectors: [remoteMcp({ id: "crm", url: resource.url, auth: "oauth" })],
      executor,
      storage: memoryStorage(),
      vault: { key: KEY },
      ...config,
    },
    lent,
  );
}

describe("a person's authorization, from the model's side", () => {
  test.each(["call_tool", "execute_code"])(
    "%s says whom to ask, the person agrees in a browser, and the next one works",
    async (name) => {
      const connecta = deployed();
      const code = 'return connecta.call("crm.whoami")';
      const call = () =>
        callTool(connecta, name, name === "call_tool" ? { address: "crm.whoami" } : { code });
      const refused = (await call()).structuredContent as { error: Record<string, unknown> };
      expect(refused.error).toMatchObject({ code: "auth_required", connector: "crm" });
      const next = refused.error.nextAction as { tool: string; arguments: Record<string, unknown> };
      expect(next).toEqual({ tool: "authorize_connector", arguments: { connector: "crm" } });
      const told = await callTool(connecta, next.tool, next.arguments);
      const { url } = told.structuredContent as { url: string };
      expect(told.structuredContent).toMatchObject({ ok: true, status: "authorization_needed" });
      const back = await visit(url, ORIGIN);
      const page = await connecta.fetch(new Request(back, { headers: { host: "127.0.0.1:8787" } }));
      expect([page.status, (await page.text()).includes("crm is connected")]).toEqual([200, true]);
      expect(JSON.stringify(await call())).toContain("ada");
      await connecta.close();
    },
  );

  test("needs an address of the deployment that browsers know", async () => {
    const connecta = deployed({}, { addresses: () => [undefined as never] });
    const told = await callTool(connecta, "authorize_connector", { connector: "crm" });
    expect(JSON.stringify(told)).toContain("the operator gives publicUrl");
    await connecta.close();
  });

  test("publicUrl is that address, and makes the document that says who we are", async () => {
    const connecta = deployed({ publicUrl: "https://mcp.example.com/" });
    const told = await callTool(connecta, "authorize_connector", { connector: "crm" });
    const { url } = told.structuredContent as { url: string };
    const back = "https://mcp.example.com/oauth/callback/crm";
    expect(new URL(url).searchParams.get("redirect_uri")).toBe(back);
    const document = await connecta.fetch(
      new Request("https://mcp.example.com/oauth/client.json", { headers: { host: "localhost" } }),
    );
    expect(await document.json()).toEqual({
      client_id: "https://mcp.example.com/oauth/client.json",
      client_name: "connecta",
      redirect_uris: [back],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "web",
    });
    await connecta.close();
  });

  test("authorize_connector says exactly how values are handed over", async () => {
    const crm = api({ id: "crm", credential: { fields: { token: "Token" } }, tools: {} });
    const connecta = deployed({ connectors: [crm] });
    const told = await callTool(connecta, "authorize_connector", { connector: "crm" });
    expect(told.structuredContent).toEqual({
      ok: true,
      connector: "crm",
      status: "credential_needed",
      message:
        "Ask the person who runs this gateway to hand the credential over: " +
        "connecta credentials set crm",
    });
    await connecta.close();
  });
});

describe("G7: a deployment that cannot keep a credential", () => {
  const make = (config: Partial<ConnectaConfig>) => () => deployed(config);

  test("does not start, and says what is missing", () => {
    // An absent option, as a config file has it that names a variable which is not set.
    const absent = <T>(value: T): T => value;
    expect(make({ storage: absent(undefined as never) })).toThrow(
      /^storage is missing: connector crm/,
    );
    expect(make({ vault: absent(undefined as never) })).toThrow(
      /^vault\.key is missing: connector crm/,
    );
    expect(make({ vault: { key: "short" } })).toThrow(/^vault\.key \(CONNECTA_VAULT_KEY\) must be/);
    expect(make({ publicUrl: "mcp.example.com" })).toThrow(/^publicUrl must be an https address/);
  });
});
