// @ts-check
import { createHash, timingSafeEqual } from "node:crypto";
import { errors, Provider } from "oidc-provider";
import { keptIn, ownKeys } from "./kept.mjs";
import { sendProblem, sendQuestion } from "./page.mjs";

/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {import("node:http").ServerResponse} Response */

/**
 * @typedef {object} IssuerOptions
 * @property {string} url where this issuer is reached
 * @property {string} resource the one thing that its tokens are for
 * @property {string} scope what they allow there
 * @property {string} passphrase at least 16 characters
 * @property {readonly string[]} redirectHosts besides this machine's own
 * @property {import("connecta").Storage} storage
 */

/** The one account. */
const OWNER = "owner";
const MIN_PASSPHRASE_CHARS = 16;
const INTERACTION = /^\/interaction\/[\w-]+$/;
const FORM_BYTES = 4_096;
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** What anybody may do without being let in, so much in a minute. */
const MAX_GUESSES = 10;
const MAX_REGISTRATIONS = 10;

/**
 * An issuer for one person: hosts register themselves, the person lets each in by passphrase.
 * @param {IssuerOptions} options
 * @returns {Promise<import("node:http").RequestListener>}
 */
export async function createIssuer(options) {
  const { passphrase } = options;
  if (passphrase.trim().length < MIN_PASSPHRASE_CHARS) {
    throw new TypeError(`PASSPHRASE needs at least ${MIN_PASSPHRASE_CHARS} characters.`);
  }
  const { jwk, cookie } = await ownKeys(options.storage);
  const provider = new Provider(options.url, {
    ...whatItIssues(options),
    ...whomItServes(options.redirectHosts),
    adapter: keptIn(options.storage),
    jwks: { keys: [jwk] },
    cookies: { keys: [cookie] },
  });
  provider.proxy = true;
  provider.on("server_error", (_, error) => console.error(`issuer: ${error.name}`));
  const handle = provider.callback();
  const { host, protocol } = new URL(options.url);
  const [guesses, registrations] = [atMost(MAX_GUESSES), atMost(MAX_REGISTRATIONS)];
  return (request, response) => {
    // Whatever a proxy or a caller says, this is the address that tokens are issued under.
    request.headers.host = host;
    request.headers["x-forwarded-proto"] = protocol.slice(0, -1);
    delete request.headers["x-forwarded-host"];
    const [path = ""] = (request.url ?? "").split("?");
    if (INTERACTION.test(path)) {
      const asked = { provider, options, guesses };
      return void ask(request, response, asked).catch(() =>
        sendProblem(response, 400, "This question is no longer open. Begin again at your host."),
      );
    }
    if (path === "/reg" && request.method === "POST" && !registrations()) {
      return void response.writeHead(429, { "retry-after": "60" }).end();
    }
    return void handle(request, response);
  };
}

/**
 * Access tokens for one resource, as JWT.
 * @param {IssuerOptions} options
 * @returns {import("oidc-provider").Configuration}
 */
function whatItIssues({ resource, scope }) {
  return {
    // Clients register with the scope that they were told to ask for.
    scopes: ["openid", "offline_access", scope],
    findAccount: (_, id) =>
      id === OWNER ? { accountId: id, claims: async () => ({ sub: id }) } : undefined,
    features: {
      devInteractions: { enabled: false },
      // Its tokens would be bound to a key, which connecta does not look at.
      dPoP: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo(_, indicator) {
          if (indicator !== resource) throw new errors.InvalidTarget();
          return {
            scope,
            audience: resource,
            accessTokenTTL: HOUR,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          };
        },
      },
    },
    responseTypes: ["code"],
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: async () => false,
    pkce: { required: () => true },
    ttl: {
      AccessToken: HOUR,
      AuthorizationCode: 60,
      Grant: 365 * DAY,
      IdToken: HOUR,
      Interaction: HOUR,
      RefreshToken: 90 * DAY,
      Session: HOUR,
    },
    renderError(ctx, { error_description }) {
      ctx.respond = false;
      sendProblem(ctx.res, ctx.status, String(error_description ?? "The request is not usable."));
    },
  };
}

/**
 * Hosts that register themselves, as long as they send the person to where that is allowed.
 * @param {readonly string[]} redirectHosts
 * @returns {import("oidc-provider").Configuration}
 */
function whomItServes(redirectHosts) {
  const allowed = new Set([...redirectHosts, "localhost", "127.0.0.1", "[::1]"]);
  return {
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    // A page may register and redeem where its host may.
    clientBasedCORS: (_, origin, client) =>
      (client.redirectUris ?? []).some((uri) => new URL(uri).origin === origin),
    extraClientMetadata: {
      // No such property is used: its validator is asked once for every registration.
      properties: ["checked_redirects"],
      validator(_ctx, _key, _value, { redirect_uris = [] }) {
        for (const uri of redirect_uris) {
          const { hostname } = new URL(uri);
          if (allowed.has(hostname)) continue;
          throw new errors.InvalidClientMetadata(`${hostname} is not among REDIRECT_HOSTS.`);
        }
      },
    },
  };
}

/**
 * Shows the question, or takes the answer to it.
 * @param {Request} request
 * @param {Response} response
 * @param {{ provider: Provider, options: IssuerOptions, guesses: () => boolean }} asked
 */
async function ask(request, response, { provider, options, guesses }) {
  const { params } = await provider.interactionDetails(request, response);
  const client = await provider.Client.find(String(params.client_id));
  if (!client) return sendProblem(response, 400, "This host is not known any more.");
  const { resource, passphrase } = options;
  const question = {
    host: client.clientName ?? client.clientId,
    returnsTo: new URL(String(params.redirect_uri)).host,
    resource,
  };
  if (request.method !== "POST") return sendQuestion(response, question);
  const { origin } = request.headers;
  if (origin !== undefined && origin !== new URL(options.url).origin) {
    return sendProblem(response, 403, "The answer came from another page.");
  }
  const form = await readForm(request);
  if (form.get("answer") !== "allow") {
    const result = { error: "access_denied", error_description: "The person refused." };
    return provider.interactionFinished(request, response, result);
  }
  if (!guesses()) {
    return sendQuestion(response, { ...question, problem: "Too many tries. Wait a minute." });
  }
  if (!isSame(form.get("passphrase") ?? "", passphrase)) {
    return sendQuestion(response, { ...question, problem: "That is not the passphrase." });
  }
  const grant = new provider.Grant({ accountId: OWNER, clientId: client.clientId });
  grant.addOIDCScope(`openid offline_access ${options.scope}`);
  grant.addResourceScope(resource, options.scope);
  const grantId = await grant.save();
  const result = { login: { accountId: OWNER, remember: false }, consent: { grantId } };
  return provider.interactionFinished(request, response, result);
}

/** @param {Request} request */
async function readForm(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > FORM_BYTES) throw new Error("The form is too long.");
  }
  return new URLSearchParams(text);
}

/**
 * Compares in a time that depends on neither.
 * @param {string} given
 * @param {string} expected
 */
function isSame(given, expected) {
  const digest = (/** @type {string} */ text) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/**
 * Says yes so many times in a minute.
 * @param {number} most
 */
function atMost(most) {
  let [count, since] = [0, 0];
  return () => {
    const now = Date.now();
    if (now - since > 60_000) [count, since] = [0, now];
    return ++count <= most;
  };
}
