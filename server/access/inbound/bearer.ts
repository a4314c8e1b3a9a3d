import { digestOf } from "../../shared/digest.ts";
import { isSameDigest } from "./secret.ts";
import { UNKNOWN, type WayIn } from "./verdict.ts";

const MIN_TOKEN_CHARS = 16;

/**
 * Admits whoever has the one token, compared in constant time.
 * @param token at least 16 visible characters of ASCII
 * @throws TypeError for a token that is missing, too short, or that no header could carry
 */
export function bearer(token: string): WayIn {
  if (typeof token !== "string" || token.trim().length < MIN_TOKEN_CHARS) {
    throw new TypeError(`auth.bearer needs at least ${MIN_TOKEN_CHARS} characters of secret.`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError("auth.bearer has blanks or other characters that no header can carry.");
  }
  // Made with the first request: some runtimes compute nothing of the kind before.
  let expected: Uint8Array | undefined;
  return {
    async check(credential) {
      // Digests have one length whatever was given, so that the comparison takes one time.
      const [given, right] = await Promise.all([digestOf(credential), expected ?? digestOf(token)]);
      expected = right;
      const isSame = isSameDigest(given, right);
      return isSame ? { kind: "admitted", principal: "bearer" } : UNKNOWN;
    },
  };
}
