/** What one way in says of a credential. */
export type Verdict =
  | { readonly kind: "admitted"; readonly principal: string }
  /** Not of this kind: another way in may know it. */
  | { readonly kind: "unknown" }
  /** Of this kind, and no good. */
  | { readonly kind: "invalid"; readonly message: string }
  /** Genuine, and not enough; `scopes` are those that would be. */
  | {
      readonly kind: "insufficient";
      readonly message: string;
      readonly scopes?: readonly string[];
    }
  /** Cannot be judged now. */
  | { readonly kind: "unavailable"; readonly message: string };

/** One way in. */
export interface WayIn {
  /** Judges what stood behind `Bearer`; a throw admits nobody. */
  check(credential: string): Promise<Verdict>;
}

/** Who calls, or why nobody does; `missing` when the request carries no credential. */
export type Identity =
  | Exclude<Verdict, { readonly kind: "unknown" }>
  | { readonly kind: "missing" };

/** Decides who calls. */
export type Authenticate = (request: Request) => Promise<Identity>;

/** Told of faults that no caller sees, and what they happened to. */
export type Report = (error: Error, what: string) => void;

export const UNKNOWN: Verdict = { kind: "unknown" };

/** The verdict that says most about a credential which nobody admitted. */
const WEIGHT = { unknown: 0, invalid: 1, unavailable: 2, insufficient: 3, admitted: 4 } as const;

/** A server's own limit for header lines is about this, in characters. */
const MAX_CREDENTIAL_CHARS = 16_384;

/**
 * Asks one way in after the other, in the order given, until one admits the caller.
 * @param report told of a way in that throws; it counts as one that cannot judge now
 */
export function firstThatAdmits(ways: readonly WayIn[], report: Report): Authenticate {
  const ask = async (way: WayIn, credential: string): Promise<Verdict> => {
    try {
      return await way.check(credential);
    } catch (error) {
      report(error instanceof Error ? error : new Error(String(error)), "inbound auth");
      return { kind: "unavailable", message: "Who calls cannot be checked now." };
    }
  };
  return async (request) => {
    const credential = credentialOf(request);
    if (credential === undefined) return { kind: "missing" };
    let verdict = UNKNOWN;
    for (const way of ways) {
      const next = await ask(way, credential);
      if (next.kind === "admitted") return next;
      if (WEIGHT[next.kind] > WEIGHT[verdict.kind]) verdict = next;
    }
    return verdict.kind === "unknown"
      ? { kind: "invalid", message: "This deployment does not know the token." }
      : verdict;
  };
}

function credentialOf(request: Request): string | undefined {
  const header = request.headers.get("authorization") ?? "";
  if (header.length > MAX_CREDENTIAL_CHARS) return undefined;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1];
}
