const encoder = new TextEncoder();

/** The class of an error, or what else was thrown; never its text, nor a name that is no name. */
export function kindOf(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error;
  return /^[A-Za-z]{1,40}$/.test(name) ? name : "Error";
}

/**
 * Where an error was made, a line each; never its text, however much that looks like a place. None
 * where the two cannot be told apart.
 */
export function placesOf({ stack = "", message }: Error): readonly string[] {
  const at = stack.indexOf(message);
  if (at < 0) return [];
  const lines = stack.slice(at + message.length).split("\n");
  return lines.filter((line) => /^\s+at /.test(line));
}

/** Up to here a loop is as quick as the encoder, which is ten times quicker on long texts. */
const SHORT_CHARS = 32;

const PIECE_CHARS = 16_384;
/** Written and never read: only the length counts. */
const scratch = new Uint8Array(3 * (PIECE_CHARS + 1));

/** UTF-8 length of a string, in bytes. */
export function utf8Length(text: string): number {
  if (text.length <= SHORT_CHARS) return shortUtf8Length(text);
  let bytes = 0;
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(text, from, PIECE_CHARS);
    bytes += encoder.encodeInto(text.slice(from, to), scratch).written;
    from = to;
  }
  return bytes;
}

/** Where a piece of `chars` UTF-16 units from `from` ends; one unit later where it would split a pair. */
export function endOfPiece(text: string, from: number, chars: number): number {
  const to = from + chars;
  return isLowSurrogate(text.charCodeAt(to)) ? to + 1 : to;
}

function shortUtf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that splits no character. */
export function clampUtf8(text: string, maxBytes: number): string {
  if (text.length <= maxBytes / 3 || utf8Length(text) <= maxBytes) return text;
  const buffer = new Uint8Array(maxBytes);
  return text.slice(0, encoder.encodeInto(text, buffer).read);
}

/** UTF-8 bytes of a string. */
export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** At most `maxChars` UTF-16 units, cut between characters, with an ellipsis when cut. */
export function clampChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = isLowSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 2 : maxChars - 1;
  return `${text.slice(0, end)}…`;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The order of texts as UTF-8; comparing by UTF-16 puts 😀 before U+FFFD. */
export function byCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  const [mine, theirs] = [one.charCodeAt(at), other.charCodeAt(at)];
  if (at === length) return one.length - other.length;
  const [isPair, isOtherPair] = [isSurrogate(mine), isSurrogate(theirs)];
  return isPair === isOtherPair ? mine - theirs : isPair ? 1 : -1;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
