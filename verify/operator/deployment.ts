import { api, memoryStorage, type Connector, type ConnectaConfig } from "../../server/index.ts";
import { listen } from "../../server/node/index.ts";
import { bearer, post } from "../support/messages.ts";

export const SECRET = "a secret of the operator";
export const BEARER = "correct-horse-battery";

/** A text that runs as a script wherever it is taken for markup. */
export const HOSTILE =
  '"><img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>';

/** Says how long the credential is that its calls use. */
const crm = api({
  id: "crm",
  title: "CRM",
  description: "Customer records",
  credential: {
    fields: {
      token: "API token",
      tenant: { title: "Tenant", description: "The first part of your address" },
    },
    instructions: "You find both under Settings, Integrations, API.",
  },
  tools: {
    use: {
      description: "Says how long its credential is.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: (_: unknown, { credential }) => ({ chars: credential["token"]?.length }),
    },
    update_record: {
      description: "Changes a record.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: false, destructiveHint: true },
      handler: () => "changed",
    },
  },
});

/** Every text of it is an attack. */
const hostile: Connector = {
  id: "shop",
  kind: "mcp",
  title: HOSTILE,
  description: HOSTILE,
  listTools: async () => ({
    ok: true,
    value: [
      {
        name: HOSTILE,
        description: HOSTILE,
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
      {
        name: `delete_${"everything_".repeat(12)}`,
        description: "A name that is too long for a phone.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
    ],
  }),
  callTool: async () => ({ ok: true, value: { kind: "value", value: "sold" } }),
};

const broken: Connector = {
  id: "warehouse",
  kind: "mcp",
  description: "Stock in every town",
  listTools: async () => ({
    ok: false,
    failure: { code: "unavailable", message: "warehouse does not answer.", retryable: true },
  }),
  callTool: async () => ({
    ok: false,
    failure: { code: "unavailable", message: "warehouse does not answer.", retryable: true },
  }),
};

/** A deployment that listens, with an operator page; more connectors and options may be given. */
export async function operated(
  more: readonly Connector[] = [],
  config: Partial<ConnectaConfig> = {},
) {
  const server = await listen(
    {
      connectors: [crm, hostile, broken, ...more],
      storage: memoryStorage(),
      vault: { key: Buffer.alloc(32, 7).toString("base64") },
      auth: { bearer: BEARER, tokens: true },
      operator: { secret: SECRET },
      log: () => undefined,
      ...config,
    },
    { port: 0 },
  );
  if (!server.ok) throw new Error(server.failure.message);
  return server.value;
}

/** Calls one of the seven tools as a program would, and gives the status and the answer. */
export async function called(url: string, token: string, name: string, args: object) {
  const params = { name, arguments: args };
  const { status, text } = await post(url, "tools/call", params, { headers: bearer(token) });
  const message = JSON.parse(text) as {
    result?: { structuredContent?: Record<string, unknown> };
  };
  return { status, value: message.result?.structuredContent ?? {} };
}
