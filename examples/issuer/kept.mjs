// @ts-check
import { generateKeyPairSync, randomBytes } from "node:crypto";

/** @typedef {import("connecta").Storage} Storage */
/** @typedef {import("oidc-provider").AdapterPayload} Payload */

const PREFIX = "issuer/";
/** A host that was not used for so long registers itself again. */
const CLIENT_SECONDS = 180 * 24 * 3_600;

/**
 * @template T
 * @param {import("connecta").Outcome<T>} outcome
 */
function valueOf(outcome) {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}

/**
 * Where the issuer keeps what it hands out: in the deployment's own store.
 * @param {Storage} storage
 * @returns {import("oidc-provider").AdapterFactory}
 */
export function keptIn(storage) {
  return (model) => new Kept(model, storage);
}

class Kept {
  /**
   * @param {string} model
   * @param {Storage} storage
   */
  constructor(model, storage) {
    this.model = model;
    this.storage = storage;
  }

  /** @param {string} id */
  key(id) {
    return `${PREFIX}${this.model}/${id}`;
  }

  /**
   * @param {string} id
   * @param {Payload} payload
   * @param {number | undefined} expiresIn seconds
   */
  async upsert(id, payload, expiresIn) {
    const seconds = expiresIn ?? CLIENT_SECONDS;
    const ttl = { ttlMs: Math.max(1, Math.ceil(seconds * 1_000)) };
    const until = Date.now() + ttl.ttlMs;
    valueOf(await this.storage.set(this.key(id), JSON.stringify({ payload, until }), ttl));
    if (payload.uid) {
      valueOf(await this.storage.set(`${PREFIX}uid/${payload.uid}`, id, ttl));
    }
    if (payload.grantId && this.model !== "Session") {
      const mark = `${PREFIX}of-grant/${payload.grantId}/${this.key(id)}`;
      valueOf(await this.storage.set(mark, "", ttl));
    }
  }

  /** @param {string} id */
  async find(id) {
    const text = valueOf(await this.storage.get(this.key(id)));
    return text === undefined ? undefined : /** @type {Payload} */ (JSON.parse(text).payload);
  }

  /** @param {string} uid */
  async findByUid(uid) {
    const id = valueOf(await this.storage.get(`${PREFIX}uid/${uid}`));
    return id === undefined ? undefined : this.find(id);
  }

  /** Codes that people type are not handed out here. */
  async findByUserCode() {
    return undefined;
  }

  /**
   * Marks what may be used once; of two who use it at the same time one fails.
   * @param {string} id
   */
  async consume(id) {
    const text = valueOf(await this.storage.get(this.key(id)));
    if (text === undefined) throw new Error("It is gone.");
    const { payload, until } = JSON.parse(text);
    if (payload.consumed !== undefined) throw new Error("It was used before.");
    const used = { ...payload, consumed: Math.floor(Date.now() / 1_000) };
    const ttlMs = Math.max(1, until - Date.now());
    const value = JSON.stringify({ payload: used, until });
    const isFirst = await this.storage.compareAndSet(this.key(id), text, value, { ttlMs });
    if (!valueOf(isFirst)) throw new Error("It was used at the same time.");
  }

  /** @param {string} id */
  async destroy(id) {
    valueOf(await this.storage.delete(this.key(id)));
  }

  /** @param {string} grantId */
  async revokeByGrantId(grantId) {
    const prefix = `${PREFIX}of-grant/${grantId}/`;
    for (;;) {
      const marks = valueOf(await this.storage.list(prefix));
      for (const mark of marks) {
        valueOf(await this.storage.delete(mark.slice(prefix.length)));
        valueOf(await this.storage.delete(mark));
      }
      if (marks.length === 0) return;
    }
  }
}

/**
 * The issuer's own secrets, made at the first start: the key that signs tokens, and the one that
 * signs cookies.
 * @param {Storage} storage
 * @returns {Promise<{ jwk: import("oidc-provider").JWK, cookie: string }>}
 */
export async function ownKeys(storage) {
  const key = `${PREFIX}keys`;
  const kept = valueOf(await storage.get(key));
  if (kept !== undefined) return JSON.parse(kept);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
  const made = JSON.stringify({ jwk, cookie: randomBytes(32).toString("base64url") });
  valueOf(await storage.compareAndSet(key, undefined, made));
  return ownKeys(storage);
}
