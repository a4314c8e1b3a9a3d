import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from "jose";

/** A key pair of an issuer. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** Makes a key pair. */
export async function issuerKey(kid: string, alg = "ES256"): Promise<IssuerKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

/** What a test answers instead of an issuer's own documents; `undefined` leaves them as they are. */
type Instead = (request: IncomingMessage, response: ServerResponse) => boolean;

/** An issuer that does what a test says: it publishes keys and signs anything. */
export class TestIssuer {
  readonly url: string;
  /** The keys that it publishes. */
  keys: readonly IssuerKey[];
  /** Its metadata, over what it would say. */
  metadata: Record<string, unknown> = {};
  /** Where its metadata lies. */
  wellKnown = "/.well-known/openid-configuration";
  instead: Instead = () => false;
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(server: Server, path: string, key: IssuerKey) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    this.keys = [key];
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  /** Starts one on a port of its own, with one ES256 key. */
  static async start(path = ""): Promise<TestIssuer> {
    const key = await issuerKey("first");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new TestIssuer(server, path, key);
  }

  /** A token for an audience that is good for five minutes, unless the claims say otherwise. */
  async sign(claims: JWTPayload, key = this.keys[0], header: object = {}): Promise<string> {
    if (!key) throw new Error("the issuer has no key");
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, sub: "ada", iat: now, exp: now + 300, ...claims };
    return new SignJWT(all)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...header })
      .sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    this.asked.push(path);
    if (this.instead(request, response)) return;
    const jwks = `${this.url}/jwks`;
    const own = { issuer: this.url, jwks_uri: jwks, ...this.metadata };
    const isMetadata = path.includes(this.wellKnown);
    const isKeys = path.endsWith("/jwks");
    const document = isMetadata ? own : isKeys ? { keys: await this.#published() } : undefined;
    response.writeHead(document ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  }

  #published(): Promise<JWK[]> {
    return Promise.all(
      this.keys.map(async ({ kid, alg, publicKey }) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg,
        use: "sig",
      })),
    );
  }
}

/** A token without a signature. */
export function unsigned(claims: JWTPayload): string {
  return `${encoded({ alg: "none", typ: "at+jwt" })}.${encoded(claims)}.`;
}

/** A token whose "secret" is the public key, as everybody can read it. */
export async function signedWithPublicKey(claims: JWTPayload, key: IssuerKey): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", kid: key.kid, typ: "at+jwt" })
    .sign(new TextEncoder().encode(await exportSPKI(key.publicKey)));
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
