import type { Failure, Outcome } from "../shared/failure.ts";

/**
 * An answer on its way into the program: the JSON text of a value, or a text that stands for the
 * value it is the JSON of, or for itself. Whether a text is JSON the guest finds out, which parses
 * it anyway: parsing a large text here would hold up everyone.
 */
export interface Answer {
  readonly kind: "json" | "text";
  readonly text: string;
  /** UTF-8 bytes of the text. */
  readonly bytes: number;
}

/** Where a text belongs in the value of its head: an entry of a batch, or -1 for all of it. */
interface Place {
  readonly at: number;
  /** Length in UTF-16 units. */
  readonly chars: number;
  /** Room for the text itself, which the guest cuts out. */
  readonly text: "";
}

/** Digits that say how long a head is; the guest reads as many. */
const HEAD_DIGITS = 8;

/**
 * The text that answers one host call of the guest: JSON, or, where texts come along,
 *
 *     ~ | length of the head in UTF-16 units, eight digits | head | text | text …
 *
 * with a head of JSON that says where each text belongs and how long it is.
 */
export function reply(answer: Answer): string {
  if (answer.kind === "json") return `{"ok":true,"value":${answer.text}}`;
  return withTexts("null", [{ at: -1, chars: answer.text.length, text: "" }], [answer.text]);
}

/** The answer to a batch: one value, whose entries may be texts. */
export function batchReply(
  entries: readonly { readonly address: string; readonly answer: Outcome<Answer> }[],
): string {
  const places: Place[] = [];
  const texts: string[] = [];
  const values = entries.map(({ address, answer }, at) => {
    const name = `"address":${JSON.stringify(address)}`;
    if (!answer.ok) return `{${name},"ok":false,"error":${JSON.stringify(answer.failure)}}`;
    const { kind, text } = answer.value;
    if (kind === "json") return `{${name},"ok":true,"data":${text}}`;
    places.push({ at, chars: text.length, text: "" });
    texts.push(text);
    return `{${name},"ok":true,"data":null}`;
  });
  const value = `[${values.join()}]`;
  return texts.length === 0 ? `{"ok":true,"value":${value}}` : withTexts(value, places, texts);
}

function withTexts(value: string, places: readonly Place[], texts: readonly string[]): string {
  const head = `{"ok":true,"texts":${JSON.stringify(places)},"value":${value}}`;
  return `~${String(head.length).padStart(HEAD_DIGITS, "0")}${head}${texts.join("")}`;
}

/** The answer to a host call that failed, under the number by which the host will know it again. */
export function refusal(id: number, failure: Failure): string {
  return JSON.stringify({ ok: false, id, failure });
}

/** Answers every call of a run that is over: number 0 is no failure's, and ends what still goes on. */
export const OVER = '{"ok":false,"id":0,"failure":{"message":"The run is over."}}';
