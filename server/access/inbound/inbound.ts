import type { Storage } from "../../shared/storage.ts";
import { bearer } from "./bearer.ts";
import { readIssuers, type OAuthIssuer, type ReadyIssuer } from "./oauth-options.ts";
import { Tokens } from "./tokens.ts";
import { firstThatAdmits, type Authenticate, type Report, type WayIn } from "./verdict.ts";

/** Who may call; one way in is enough for a caller. */
export interface AuthOptions {
  /** One token for everybody who may call, at least 16 characters. */
  readonly bearer?: string;
  /** Tokens that `connecta tokens` hands out, kept in the deployment's `storage`. */
  readonly tokens?: boolean;
  /** Issuers whose access tokens let their bearer in. */
  readonly oauth?: OAuthIssuer | readonly OAuthIssuer[];
}

/** The ways into a deployment, put together. */
export interface Inbound {
  readonly authenticate: Authenticate;
  readonly issuers: readonly ReadyIssuer[];
}

/** What the ways in need from their deployment. */
export interface InboundNeeds {
  readonly storage: Storage | undefined;
  /** The addresses of this deployment's `/mcp`. */
  readonly resources: () => readonly string[];
  readonly report: Report;
}

/**
 * Puts together the ways in that the config names, the cheapest first.
 * @throws TypeError that names the option and the fix
 */
export function createInbound(auth: AuthOptions, needs: InboundNeeds): Inbound {
  const ways: WayIn[] = [];
  if (auth.bearer !== undefined) ways.push(bearer(auth.bearer));
  if (auth.tokens === true) {
    if (!needs.storage) {
      throw new TypeError(
        'auth.tokens needs a store: set storage: sqliteStorage({ file: "connecta.db" }).',
      );
    }
    ways.push(new Tokens(needs.storage, Date.now, needs.report));
  }
  const issuers = auth.oauth === undefined ? [] : readIssuers(auth.oauth);
  if (issuers.length > 0) ways.push(signedIn(issuers, needs));
  if (ways.length === 0) throw new TypeError("auth lets nobody in: give bearer, tokens or oauth.");
  return { authenticate: firstThatAdmits(ways, needs.report), issuers };
}

/** What verifies signatures takes as long to load as all else together: the first token pays for it. */
function signedIn(issuers: readonly ReadyIssuer[], { resources, report }: InboundNeeds): WayIn {
  let loading: Promise<WayIn> | undefined;
  const load = async () => (await import("./oauth.ts")).oauth(issuers, resources, report);
  return {
    async check(credential) {
      loading ??= load();
      return (await loading).check(credential);
    },
  };
}
