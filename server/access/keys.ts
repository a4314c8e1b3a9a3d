/** The keys of a vault: what is sealed from now on, and what may still open older seals. */
export interface VaultOptions {
  /** 32 random bytes in base64. */
  readonly key: string;
  /** Keys that the vault was sealed with before, newest first. */
  readonly previousKeys?: readonly string[];
}

/** `CryptoKey`, a name that projects on Node without the types of browsers do not have. */
type ReadyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** One key, ready for use. */
export interface VaultKey {
  /** Names the key in what it sealed, and tells nothing of it. */
  readonly id: string;
  readonly key: ReadyKey;
}

const KEY_BYTES = 32;
const ID_CHARS = 8;

/**
 * Checks the keys of a config.
 * @returns their bytes, the one to seal with first
 * @throws TypeError naming the option, never the value
 */
export function readVaultKeys(options: VaultOptions): readonly Uint8Array<ArrayBuffer>[] {
  const { key, previousKeys = [] } = options;
  return [
    readKey("vault.key (CONNECTA_VAULT_KEY)", key),
    ...previousKeys.map((one, at) =>
      readKey(`vault.previousKeys[${at}] (CONNECTA_VAULT_PREVIOUS_KEYS)`, one),
    ),
  ];
}

/** Makes a key of its bytes that cannot be read out again. */
export async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<VaultKey> {
  const label = new TextEncoder().encode("connecta vault key\0");
  const named = new Uint8Array([...label, ...bytes]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", named));
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { id: toBase64Url(digest).slice(0, ID_CHARS), key };
}

/** A new random key, as configurations hold it. */
export function newVaultKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(KEY_BYTES))));
}

/** Bytes in base64 as URLs take it, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes of a base64 text of either alphabet, `undefined` when it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function readKey(at: string, text: unknown): Uint8Array<ArrayBuffer> {
  const bytes = typeof text === "string" ? fromBase64(text.trim()) : undefined;
  if (bytes?.length === KEY_BYTES) return bytes;
  throw new TypeError(
    `${at} must be ${KEY_BYTES} random bytes in base64: connecta credentials key makes one.`,
  );
}
