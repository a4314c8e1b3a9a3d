import type { Tool } from "../shared/contracts.ts";
import { LIMITS } from "../shared/limits.ts";
import { isRecord } from "../shared/record.ts";
import { clampUtf8 } from "../shared/text.ts";
import { actionOf, READ, RUN } from "./actions.ts";
import { isExplicitlyReadOnly } from "./classify.ts";
import { stem } from "./stem.ts";
import { pieces } from "./tokens.ts";

/** Words that spend, beside the actions that ranking knows. */
const SPENDS = new Set(
  "pay buy purchase charge transfer withdraw refund checkout donate mint swap trade".split(" "),
);
/** Actions to ranking, and yet nothing that changes what others see. */
const HARMLESS = new Set("generate resolve build draw perform".split(" "));
/** Reading verbs at the end of a name; the second kind may also be what a verb before it is about. */
const READS = new Set("get read fetch describe".split(" "));
const READS_OR_THINGS = new Set("list search query view show".split(" "));

/** Verbs that hand something on to be carried out, and what they hand on. */
const HANDS_ON = new Set("execute exec run call invoke eval evaluate dispatch batch".split(" "));
const ANYTHING = new Set(
  (
    "tool command cmd batch raw request query sql soql code script shell bash function action " +
    "operation javascript python statement expression in"
  ).split(" "),
);
/** Last parts of names that stand for every operation of an interface. */
const EVERYTHING = new Set("batch generic raw passthrough proxy eval exec shell bash".split(" "));
const INTERFACES = new Set("api http rest raw".split(" "));
const REQUESTS = new Set("request call rpc".split(" "));
const HTTP_METHODS = new Set("get post put patch delete".split(" "));

/** Parameters whose values are the verbs of a tool that does several things. */
const CHOICE = /^(?:action|operation|op|method|command|cmd|mode|verb)$/i;
const PATH = /^(?:path|endpoint|route|uri|url)$/i;
const METHOD = /^(?:method|http_?method|verb)$/i;
/** How much of a name or a description is looked at, in words. */
const MAX_WORDS = 32;

/**
 * Why an operator should look at a tool before trusting its class, in a few words, or `undefined`:
 * it counts as read-only and looks as if it wrote, or it carries out whatever it is given.
 * @param tool with its effective annotations
 */
export function suspicion(tool: Tool): string | undefined {
  const parts = wordsOf(tool.name);
  if (isExplicitlyReadOnly(tool)) {
    const verb = writingVerb(parts);
    if (verb !== undefined) return `counts as reading, its name says ${quote(verb)}`;
    const choice = writingChoice(tool.inputSchema);
    if (choice !== undefined) return `counts as reading, can be told to ${quote(choice)}`;
    const [first = ""] = wordsOf(tool.description);
    const silent = parts.every((part) => actionOf(part) === 0 && !SPENDS.has(part));
    if (silent && (writes(first) || writes(stem(first)) || writes(`${stem(first)}e`))) {
      return `counts as reading, its description begins with ${quote(first)}`;
    }
  }
  return isGeneric(parts, tool.inputSchema) ? "carries out whatever it is given" : undefined;
}

/** The first word of a name that is an action, when that action is no reading. */
function writingVerb(parts: readonly string[]): string | undefined {
  const at = parts.findIndex((part) => actionOf(part) !== 0 || SPENDS.has(part));
  const first = parts[at];
  if (first === undefined || !(writes(first) || runs(first))) return undefined;
  const last = parts.at(-1) ?? "";
  return READS.has(last) || (at > 0 && READS_OR_THINGS.has(last)) ? undefined : first;
}

/** Whether a verb in its base form changes, sends or spends something. */
function writes(verb: string): boolean {
  if (HARMLESS.has(verb)) return false;
  const kinds = actionOf(verb);
  return SPENDS.has(verb) || (kinds !== 0 && (kinds & (READ | RUN)) === 0);
}

function runs(verb: string): boolean {
  return !HARMLESS.has(verb) && (actionOf(verb) & (READ | RUN)) === RUN;
}

/** A value that a parameter such as `action` may take and that is a verb of writing. */
function writingChoice(schema: Tool["inputSchema"]): string | undefined {
  for (const [name, property] of propertiesOf(schema)) {
    if (!CHOICE.test(name) || !isRecord(property) || !Array.isArray(property.enum)) continue;
    for (const value of property.enum as unknown[]) {
      const [verb = "", , ...more] = typeof value === "string" ? wordsOf(value) : [];
      if (more.length === 0 && writes(verb)) return String(value);
    }
  }
  return undefined;
}

/** Whether a policy by name is blind: what the tool does stands in its arguments. */
function isGeneric(parts: readonly string[], schema: Tool["inputSchema"]): boolean {
  const last = parts.at(-1) ?? "";
  if (EVERYTHING.has(last) && parts.slice(0, -1).every((part) => actionOf(part) === 0)) return true;
  if (parts.some((part, i) => handsOn(part, parts[i + 1] ?? ""))) return true;
  const names = propertiesOf(schema).map(([name]) => name);
  if (!names.some((name) => PATH.test(name))) return false;
  const acts = parts.some((part) => actionOf(part) !== 0);
  const anyMethod = names.some((name) => METHOD.test(name)) && !acts;
  return anyMethod || (parts.length === 2 && HTTP_METHODS.has(last));
}

function handsOn(part: string, next: string): boolean {
  return (HANDS_ON.has(part) && isAnything(next)) || (INTERFACES.has(part) && REQUESTS.has(next));
}

function isAnything(word: string): boolean {
  return ANYTHING.has(word) || (word.endsWith("s") && ANYTHING.has(word.slice(0, -1)));
}

function wordsOf(text: string): string[] {
  return pieces(text.slice(0, LIMITS.echoBytes.value), MAX_WORDS).flatMap((piece) =>
    piece.kind === "word" ? piece.parts : [],
  );
}

function propertiesOf({ properties }: Tool["inputSchema"]): (readonly [string, unknown])[] {
  return isRecord(properties) ? Object.entries(properties) : [];
}

function quote(word: string): string {
  return JSON.stringify(clampUtf8(word, LIMITS.nameBytes.value));
}
