import { toHex } from "../../shared/digest.ts";

/** Compares two digests in a time that depends on neither. */
export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= (one[i] ?? 0) ^ (other[i] ?? 0);
  return difference === 0;
}

/** Hexadecimal digits that nobody can guess, two for each byte. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
