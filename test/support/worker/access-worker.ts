import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import { api, remoteMcp, storageActivity } from "../../../server/index.ts";
import { durableStorage, serve, type StorageNamespace } from "../../../server/worker/index.ts";

export { StorageObject } from "../../../server/worker/index.ts";

interface Bindings {
  readonly LOADER: ConstructorParameters<typeof DynamicWorkerExecutor>[0]["loader"];
  readonly STORE: StorageNamespace<unknown>;
  readonly STORE_NAME: string;
  readonly PUBLIC_URL: string;
  readonly ISSUER: string;
  /** A protected MCP server. */
  readonly SERVER: string;
  readonly CONNECTA_TOKEN: string;
  readonly CONNECTA_VAULT_KEY: string;
  readonly CONNECTA_OPERATOR_SECRET: string;
  readonly CLIENT_ID: string;
  readonly CLIENT_SECRET: string;
}

/** A Worker with every way in, and one connector for every way out. */
export default serve((env: Bindings) => {
  const { SERVER: url, CONNECTA_TOKEN: bearer, ISSUER: issuer } = env;
  const storage = durableStorage({ namespace: env.STORE, name: env.STORE_NAME });
  return {
    connectors: [
      remoteMcp({ id: "crm", url, auth: "oauth" }),
      remoteMcp({
        id: "machine",
        url,
        auth: {
          grant: "client_credentials",
          clientId: env.CLIENT_ID,
          clientSecret: env.CLIENT_SECRET,
        },
      }),
      remoteMcp({
        id: "tracker",
        url,
        credential: {
          fields: { token: "API token" },
          headers: ({ token }) => ({ Authorization: `Bearer ${token}` }),
        },
      }),
      leaky,
    ],
    executor: new DynamicWorkerExecutor({ loader: env.LOADER }),
    storage,
    activity: storageActivity({ storage, flushMs: 0 }),
    auth: { bearer, tokens: true, oauth: { issuer } },
    vault: { key: env.CONNECTA_VAULT_KEY },
    operator: { secret: env.CONNECTA_OPERATOR_SECRET },
    publicUrl: env.PUBLIC_URL,
    http: { allowedOrigins: ["https://app.example"] },
    log: { level: "debug" },
  };
});

/** Does what none may: it shows what it was lent, for whoever looks whether that is found. */
const leaky = api({
  id: "leaky",
  credential: { fields: { token: "API token" } },
  tools: {
    leak: {
      description: "Writes its credential into the log and answers with it.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: (_: unknown, { credential }) => {
        console.log(credential["token"]);
        return credential["token"];
      },
    },
  },
});
