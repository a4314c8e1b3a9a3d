import { Vault } from "../../../server/access/vault.ts";
import { CredentialDesk } from "../../../server/access/desk.ts";
import { newVaultKey, readVaultKeys } from "../../../server/access/keys.ts";
import { remoteMcp, type OAuthClientOptions } from "../../../server/connectors/remote/remote.ts";
import type { Connector } from "../../../server/shared/contracts.ts";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import { bareFetch } from "../../../server/shared/outbound.ts";
import type { Scope } from "../../../server/shared/scope.ts";
import type { Storage } from "../../../server/shared/storage.ts";
import { valueOf } from "../catalog.ts";
import { testScope } from "../scope.ts";
import { visit } from "./issuer.ts";

/** Where the deployments of tests say that browsers reach them. */
export const ORIGIN = "http://127.0.0.1:8787";
export const KEY = newVaultKey();

/** One instance of a deployment with one connector, as far as credentials go. */
export interface Instance {
  readonly storage: Storage;
  readonly desk: CredentialDesk;
  readonly crm: Connector;
}

/** Makes an instance; several with one store are one deployment. */
export function instance(
  url: string,
  auth: "oauth" | OAuthClientOptions = "oauth",
  { storage = memoryStorage(), key = KEY, id = "crm", fetch = bareFetch } = {},
): Instance {
  const crm = remoteMcp({ id, url, auth });
  const desk = new CredentialDesk({
    connectors: [crm],
    storage,
    keys: readVaultKeys({ key }),
    name: "connecta",
    origin: () => ORIGIN,
    fetch,
  });
  return { storage, desk, crm };
}

/** A scope of now, or of so many milliseconds from now. */
export function later(ms = 0): Scope {
  return testScope({ now: () => Date.now() + ms });
}

/** Begins an authorization as `authorize_connector` does; gives the address for the person. */
export async function begin({ crm }: Instance, force = false): Promise<string> {
  const told = valueOf((await crm.authorize?.(later(), force)) ?? never());
  if (typeof told.url !== "string") throw new Error(JSON.stringify(told));
  return told.url;
}

/** Sends the person there and back; gives what the browser comes back with. */
export async function comeBack(url: string): Promise<URLSearchParams> {
  return (await visit(url, `${ORIGIN}/oauth/callback/`)).searchParams;
}

/** The whole way: begun, agreed to, and finished. */
export async function authorize(one: Instance, force = false): Promise<void> {
  const answer = await comeBack(await begin(one, force));
  valueOf(await one.desk.finish(one.crm.id, answer, later()));
}

/** Calls the protected server's one tool. */
export function whoami({ crm }: Instance, scope = later()) {
  return crm.callTool("whoami", {}, scope);
}

/** What the vault holds of an instance's grant, for tests that attack with it. */
export async function grantOf({
  storage,
  crm,
}: Pick<Instance, "storage"> & { readonly crm: Pick<Connector, "id"> }) {
  const vault = new Vault(storage, readVaultKeys({ key: KEY }));
  const place = { purpose: "grant", connector: crm.id, field: "oauth" } as const;
  const opened = valueOf(await vault.read(place));
  return JSON.parse(opened?.text ?? "{}") as {
    tokens?: { access: string; refresh: string };
    client: { client_id: string };
  };
}

function never(): never {
  throw new Error("The connector has nothing to authorize.");
}
