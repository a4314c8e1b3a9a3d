import { held } from "../invoke/unwrap.ts";
import type { ToolResult } from "../shared/contracts.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { isLight, roughLength, toJsonInSteps } from "../shared/json.ts";
import { utf8Length } from "../shared/text.ts";
import type { Share } from "./in-flight.ts";
import type { Answer } from "./reply.ts";
import type { Rests } from "./rests.ts";

/** An answer is too large anyway, long before its length is known. */
const LARGEST = 2;

/**
 * What a program gets of a tool result, whole or not at all. A text crosses as it came; a value is
 * written in steps, so that no large one holds up other requests.
 * @param maxBytes UTF-8 bytes; a longer answer is `result_too_large` with its size
 * @param room told of the size before anything is written; without room the answer is dropped
 */
export async function carry(
  address: string,
  result: ToolResult,
  maxBytes: number,
  rests: Rests,
  room: Share,
): Promise<Outcome<Answer>> {
  const inside = held(address, result);
  if (!inside.ok) return inside;
  if (inside.value.kind === "text") {
    const { text } = inside.value;
    const refused = room.hold(text.length);
    if (refused) return { ok: false, failure: refused };
    if (!isLight(text)) await rests.next();
    const bytes = utf8Length(text);
    return bytes <= maxBytes
      ? ok({ kind: "text", text, bytes })
      : tooLarge(address, bytes, maxBytes);
  }
  const { value } = inside.value;
  const refused = room.hold(roughLength(value, LARGEST * maxBytes));
  if (refused) return { ok: false, failure: refused };
  const what = `The answer of ${address}`;
  const json = await toJsonInSteps(value, what, maxBytes, () => rests.next());
  if (!json.ok) return json;
  const { text, bytes } = json.value;
  if (text === undefined) return tooLarge(address, bytes, maxBytes);
  room.correct(bytes);
  return ok({ kind: "json", text, bytes });
}

/** The refusal of an answer that a program cannot take. */
export function tooLarge(address: string, bytes: number, maxBytes: number): Outcome<never> {
  return fail(
    "result_too_large",
    `${address} answered ${bytes} bytes; a program can take ${maxBytes} (maxResultBytes).`,
    { address, bytes, maxBytes },
  );
}
