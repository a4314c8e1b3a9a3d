import { newVaultKey } from "../../../server/access/keys.ts";
import {
  api,
  createConnecta,
  memoryStorage,
  type Connecta,
  type ConnectaConfig,
  type Connector,
} from "../../../server/index.ts";

export const SECRET = "a secret of the operator";
export const ORIGIN = "http://127.0.0.1:8787";

/** Runs nothing: programs play no part here. */
const executor = { execute: () => Promise.resolve({ result: undefined }) };

/** A connector that answers how long the credential is that its calls use. */
export function vaulted(id = "crm"): Connector {
  return api({
    id,
    description: "Customer records",
    credential: {
      fields: { token: "API token", user: { title: "User", description: "Your e-mail" } },
      instructions: "Settings, then API.",
    },
    tools: {
      use: {
        description: "Says what it was given.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        handler: (_: unknown, { credential }) => ({ chars: credential["token"]?.length }),
      },
      drop: {
        description: "Drops everything.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: false, destructiveHint: true },
        handler: () => "dropped",
      },
    },
  });
}

/** A deployment with an operator page, unless `operator` is `undefined`; close it when done. */
export function deployed(
  config: Partial<Omit<ConnectaConfig, "operator">> & {
    readonly operator?: ConnectaConfig["operator"] | undefined;
  } = {},
): Connecta {
  const { operator = "operator" in config ? undefined : { secret: SECRET }, ...rest } = config;
  return createConnecta({
    connectors: [vaulted()],
    executor,
    storage: memoryStorage(),
    vault: { key: newVaultKey() },
    auth: { bearer: "correct-horse-battery", tokens: true },
    ...(operator && { operator }),
    log: () => undefined,
    ...rest,
  });
}

/** What a browser would send, without one. */
export class Browser {
  readonly #connecta: Pick<Connecta, "fetch">;
  readonly #origin: string;
  readonly cookies = new Map<string, string>();
  /** Of the last page that had a form. */
  form = "";

  constructor(connecta: Pick<Connecta, "fetch">, origin = ORIGIN) {
    this.#connecta = connecta;
    this.#origin = origin;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.send(new Request(this.#origin + path, { headers }));
  }

  /** Sends a form as a page of ours would; `headers` put others in the place of its own. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.send(
      new Request(this.#origin + path, {
        method: "POST",
        headers: {
          origin: this.#origin,
          "sec-fetch-site": "same-origin",
          "content-type": "application/x-www-form-urlencoded",
          ...headers,
        },
        body: new URLSearchParams({ form: this.form, ...fields }).toString(),
      }),
    );
  }

  /** Signs in and looks at a page, whose form is sent from then on. */
  async signIn(secret = SECRET): Promise<this> {
    const answer = await this.post("/operator/sign-in", { secret });
    if (answer.status !== 303) throw new Error(`not signed in: ${answer.status}`);
    await this.text("/operator");
    return this;
  }

  /** The text of a page. */
  async text(path: string): Promise<string> {
    const text = await (await this.get(path)).text();
    this.form = /name="form" value="([0-9a-f]+)"/.exec(text)?.[1] ?? this.form;
    return text;
  }

  async send(request: Request): Promise<Response> {
    request.headers.set("host", new URL(request.url).host);
    const cookies = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookies !== "") request.headers.set("cookie", cookies);
    const response = await this.#connecta.fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}
