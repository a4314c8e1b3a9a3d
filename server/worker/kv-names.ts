import { clampUtf8, toUtf8, utf8Length } from "../shared/text.ts";

// The platform takes names of 512 bytes, and neither "." nor "..". A longer key is named by its
// beginning and a hash, and stands above its value; names keep the order that their beginnings have.
const ROOT_BYTES = 40;
const MAX_BYTES = 440;
const BEGINNING_BYTES = 400;

/** Whether names may begin so. */
export function isRoot(root: string): boolean {
  return root !== "" && root.isWellFormed() && utf8Length(root) <= ROOT_BYTES;
}

/** The name under which the platform keeps a key. */
export async function nameOf(root: string, key: string): Promise<string> {
  if (!isLong(key)) return root + key;
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(toUtf8(key)));
  const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return root + clampUtf8(key, BEGINNING_BYTES) + hash.join("");
}

/** What the names of all keys with a prefix begin with; other names may begin so too. */
export function nameStart(root: string, prefix: string): string {
  // A longer beginning may have been cut before its last character, and some end at a zero one.
  return root + clampUtf8(prefix.split("\0", 1)[0] ?? "", BEGINNING_BYTES - 4);
}

/** The key of a name, unless it is a long one that stands above its value. */
export function keyOf(root: string, name: string): string | undefined {
  const key = name.slice(root.length);
  return isLong(key) ? undefined : key;
}

/** What is stored for a value. */
export function stored(key: string, value: string): string {
  return isLong(key) ? `${JSON.stringify(key)}\n${value}` : value;
}

/** The value of what is stored for a key; nothing for another key's of the same name. */
export function valueIn(key: string, text: string): string | undefined {
  if (!isLong(key)) return text;
  return keyAbove(text) === key ? text.slice(text.indexOf("\n") + 1) : undefined;
}

/** The long key that stands above a value. */
export function keyAbove(text: string): string | undefined {
  try {
    const key: unknown = JSON.parse(text.slice(0, text.indexOf("\n")));
    return typeof key === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}

function isLong(key: string): boolean {
  return key.length > MAX_BYTES / 4 && utf8Length(key) > MAX_BYTES;
}
