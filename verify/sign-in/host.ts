import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { randomUUID } from "node:crypto";

/** Where a host has its person sent back to; nobody listens there, the address alone tells. */
export const CALLBACK = "http://localhost:65000/callback";

/** What a host keeps while its person signs in, as an MCP client asks for it. */
export class SigningIn implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata;
  readonly #state = randomUUID();
  /** Where the client sent its person. */
  sentTo: URL | undefined;
  registered: StoredOAuthClientInformation | undefined;
  granted: StoredOAuthTokens | undefined;
  verifier = "";
  discovered: OAuthDiscoveryState | undefined;

  /** @param redirectUri what it registers; its callback, unless it is up to something */
  constructor(redirectUri = CALLBACK) {
    this.clientMetadata = {
      client_name: "A <b>host</b>",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state() {
    return this.#state;
  }
  clientInformation() {
    return this.registered;
  }
  saveClientInformation(information: StoredOAuthClientInformation) {
    this.registered = information;
  }
  tokens() {
    return this.granted;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.granted = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
}
