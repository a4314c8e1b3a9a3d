import { toUtf8 } from "./text.ts";

/** SHA-256 of a text. */
export async function digestOf(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", toUtf8(text)));
}

/** The same as hexadecimal digits. */
export async function hashOf(text: string): Promise<string> {
  return toHex(await digestOf(text));
}

/** Lower-case hexadecimal digits, two for each byte. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text that {@link toHex} made. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
