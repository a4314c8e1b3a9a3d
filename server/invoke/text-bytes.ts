const encoder = new TextEncoder();
// A mark at the start of a page is a character of the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** First byte of every surrogate, and of some characters. */
const LEAD = 0xed;
/** A second byte from here on makes it a surrogate. */
const SURROGATE = 0xa0;

/**
 * Bytes of a text as UTF-8, but for a half of a surrogate pair that stands alone: UTF-8 has no form
 * for it, so it is written as the three bytes that the same rule gives.
 */
export function toBytes(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  if (text.isWellFormed()) return bytes;
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code < 0xe000) {
      bytes[at] = LEAD;
      bytes[at + 1] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at + 2] = 0x80 | (code & 0x3f);
    }
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** The text that {@link toBytes} wrote, or whole characters of it. */
export function fromBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LEAD); at >= 0; at = bytes.indexOf(LEAD, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second < SURROGATE) continue;
    const code = 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f);
    parts.push(decoder.decode(bytes.subarray(from, at)), String.fromCharCode(code));
    from = at + 3;
  }
  return parts.join("") + decoder.decode(bytes.subarray(from));
}
