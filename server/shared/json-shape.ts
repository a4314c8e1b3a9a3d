import { LIMITS } from "./limits.ts";

/** A shorter text is read in a few milliseconds, whatever it holds. */
const LIGHT_CHARS = 64 * 1024;

/** Members of an object that a protocol describes; it has a handful of them. */
const ENVELOPE_MEMBERS = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/**
 * Why reading a JSON text would hold up everyone, as the end of a sentence about it, or `undefined`.
 * Its size says little: two million brackets take a hundred times as long as as many digits. Looks
 * at each character once and says nothing about whether the text is JSON.
 * @param envelope how many levels belong to a protocol, whose objects have few members
 */
export function shapeProblem(text: string, envelope = 0): string | undefined {
  if (text.length <= LIGHT_CHARS) return undefined;
  const { jsonDepth, jsonContainers, jsonMembers } = LIMITS;
  // Members so far of each object around a place; a list may have any number.
  const members: number[] = [];
  let containers = 0;
  let isObject = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COMMA: {
        if (!isObject) break;
        const count = (members[members.length - 1] ?? 0) + 1;
        members[members.length - 1] = count;
        const most = members.length <= envelope ? ENVELOPE_MEMBERS : jsonMembers.value;
        if (count >= most) return `has an object of more than ${most} members`;
        break;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        isObject = text.charCodeAt(at) === OPEN_OBJECT;
        members.push(isObject ? 0 : -1);
        if (members.length > jsonDepth.value) return `nests deeper than ${jsonDepth.value} levels`;
        if (++containers <= jsonContainers.value) break;
        return `has more than ${jsonContainers.value} objects and lists`;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        members.pop();
        isObject = (members[members.length - 1] ?? -1) >= 0;
        break;
    }
  }
  return undefined;
}

/** Where the string ends that begins at a quote: its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    const isEscaped = (end - before) % 2 === 0;
    if (!isEscaped) return end;
  }
  return text.length;
}
