/** Decides who calls; `undefined` refuses. */
export type Authenticate = (request: Request) => Promise<string | undefined>;

/**
 * Admits requests that carry the one token, compared in constant time.
 * @param token at least 16 characters
 * @throws TypeError when the token is missing or too short
 */
export function bearer(token: string): Authenticate {
  if (typeof token !== "string" || token.length < MIN_TOKEN_CHARS) {
    throw new TypeError(`auth.bearer needs at least ${MIN_TOKEN_CHARS} characters of secret.`);
  }
  const expected = digest(token);
  return async (request) => {
    const header = request.headers.get("authorization") ?? "";
    const given = /^Bearer +(\S+)$/i.exec(header)?.[1] ?? "";
    // Digests have one length whatever was given, so that the comparison takes one time.
    const [left, right] = [await digest(given), await expected];
    let difference = 0;
    for (let i = 0; i < left.length; i++) difference |= (left[i] ?? 0) ^ (right[i] ?? 0);
    return difference === 0 && given !== "" ? "bearer" : undefined;
  };
}

const MIN_TOKEN_CHARS = 16;

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
