import { digestOf, hashOf } from "../shared/digest.ts";
import { toUtf8 } from "../shared/text.ts";

/** `CryptoKey`, a name that projects on Node without the types of browsers do not have. */
type ReadyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const ALGORITHM = "AES-GCM";
const NONCE_BYTES = 12;
/** Arguments of one function call; engines take some more. */
const PIECE_BYTES = 8_192;

/**
 * Seals one caller's result for a store. Name and key come of its id, which is random and which
 * the store never sees: who can read the store alone cannot read the result.
 */
export class ResultSeal {
  /** Under which the store holds it; tells neither id nor caller. */
  readonly name: string;
  readonly #key: ReadyKey;

  private constructor(name: string, key: ReadyKey) {
    this.name = name;
    this.#key = key;
  }

  static async of(id: string, principal: string): Promise<ResultSeal> {
    const of = (what: string) => JSON.stringify(["connecta result", what, id, principal]);
    const bytes = await digestOf(of("key"));
    const key = await crypto.subtle.importKey("raw", bytes, ALGORITHM, false, [
      "encrypt",
      "decrypt",
    ]);
    return new ResultSeal(await hashOf(of("name")), key);
  }

  /** @param part its number, without which it cannot be opened */
  async seal(part: number, content: Uint8Array<ArrayBuffer>): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(this.#of(part, iv), this.#key, content);
    return toBase64(iv) + toBase64(new Uint8Array(sealed));
  }

  /** The content; `undefined` of what was not sealed here, or was altered. */
  async open(part: number, text: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      const bytes = Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
      const algorithm = this.#of(part, bytes.slice(0, NONCE_BYTES));
      const sealed = bytes.subarray(NONCE_BYTES);
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, this.#key, sealed));
    } catch {
      return undefined;
    }
  }

  #of(part: number, iv: Uint8Array<ArrayBuffer>) {
    return { name: ALGORITHM, iv, additionalData: toUtf8(String(part)) };
  }
}

function toBase64(bytes: Uint8Array): string {
  const units: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    units.push(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)));
  }
  return btoa(units.join(""));
}
