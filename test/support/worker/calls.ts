import { grantOf } from "../authorization/deployment.ts";
import { visit } from "../authorization/issuer.ts";
import { BEARER, called } from "../../../verify/operator/deployment.ts";
import type { Deployment } from "./deployment.ts";
import { Operator } from "./operator.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the protected server answers whoever it lets in. */
export const ADA = { ok: true, data: "ada" };

/** Asks the protected server who calls, through one of the connectors. */
export async function whoami(url: string, connector: string, token = BEARER) {
  const args = { address: `${connector}.whoami`, resultMode: "value" };
  return (await called(url, token, "call_tool", args)).value;
}

/** Asks many times at once at each address. */
export function manyAtOnce(urls: readonly string[], connector: string) {
  return Promise.all(
    urls.flatMap((url) => Array.from({ length: 10 }, () => whoami(url, connector))),
  );
}

/** The status that a token gets. */
export async function statusOf(url: string, token: string): Promise<number> {
  return (await called(url, token, "skills", {})).status;
}

/** An operator begins an authorization and a person agrees; gives where their browser comes back to. */
export async function agreed(deployment: Deployment, at = deployment.url): Promise<string> {
  const operator = await Operator.signIn(at);
  const back = await visit(await operator.authorize("crm"), `${deployment.url}/oauth/callback/`);
  return back.href.replace(deployment.url, at);
}

/** An authorization from its beginning to its end, at one address. */
export async function authorize(deployment: Deployment, at = deployment.url): Promise<void> {
  const page = await fetch(await agreed(deployment, at));
  const text = await page.text();
  if (page.status !== 200) throw new Error(text);
}

/** Ends the access token of the authorization, as its server does when time passes. */
export async function endAccess(
  { issuer }: Surroundings,
  { store }: Pick<Deployment, "store">,
): Promise<void> {
  const { tokens } = await grantOf({ storage: store(), crm: { id: "crm" } });
  const token = await issuer.provider.AccessToken.find(tokens?.access ?? "");
  if (token === undefined) throw new Error("There is no access token.");
  await token.destroy();
}
