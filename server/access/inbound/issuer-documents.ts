import { z } from "zod";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import { isSafeAddress } from "./oauth-options.ts";

const METADATA = z.object({ issuer: z.string(), jwks_uri: z.string() });
const KEYS = z.object({ keys: z.array(z.looseObject({})) });

/**
 * Asks an issuer where its keys are (RFC 8414, then OpenID Connect Discovery).
 * @returns `unavailable` when no document is there, or one that speaks for another issuer
 */
export async function discoverKeys(issuer: string): Promise<Outcome<URL>> {
  const signal = AbortSignal.timeout(LIMITS.issuerTimeoutMs.value);
  let reason = "";
  for (const address of metadataAddresses(issuer)) {
    const read = await readDocument(address, signal);
    if (!read.ok) {
      reason = `${address}: ${read.failure.message}`;
      continue;
    }
    const { data } = METADATA.safeParse(parsed(read.value));
    if (data?.issuer === issuer && isSafeAddress(data.jwks_uri)) return ok(new URL(data.jwks_uri));
    reason =
      data === undefined
        ? `${address}: no issuer and jwks_uri in it.`
        : data.issuer === issuer
          ? `${address}: its jwks_uri is no https address.`
          : `${address}: it is for another issuer.`;
  }
  return fail("unavailable", reason);
}

/** Where an issuer's metadata may lie, the likelier first. */
function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
  ];
  const inserted = [`${origin}${oauth}${path}`, `${origin}${openid}${path}`];
  return path === "" ? inserted : [...inserted, `${origin}${path}${openid}`];
}

/**
 * Reads an issuer's keys.
 * @returns the JSON as it came, or `unavailable`
 */
export async function readKeys(address: string, signal: AbortSignal): Promise<Outcome<string>> {
  const read = await readDocument(address, signal);
  if (!read.ok || KEYS.safeParse(parsed(read.value)).success) return read;
  return fail("unavailable", "no keys are in it.");
}

/**
 * Reads a text of bounded size; follows no redirect, which could lead anywhere.
 * @returns `unavailable` with what went wrong, in words of ours
 */
async function readDocument(address: string, signal: AbortSignal): Promise<Outcome<string>> {
  const max = LIMITS.issuerDocumentBytes.value;
  try {
    const headers = { accept: "application/json" };
    const response = await fetch(address, { headers, redirect: "manual", signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return fail("unavailable", `it answers ${response.status || "a redirect"}.`);
    }
    const decoder = new TextDecoder();
    let [text, bytes] = ["", 0];
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > max) return fail("unavailable", `it is over ${max} bytes.`);
      text += decoder.decode(chunk, { stream: true });
    }
    return ok(text + decoder.decode());
  } catch {
    return fail("unavailable", signal.aborted ? "it takes too long." : "it cannot be reached.");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
