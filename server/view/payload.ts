import { fail, ok, type Outcome } from "../shared/failure.ts";
import { utf8Length } from "../shared/text.ts";
import { checkPayload, isPlainObject, type ViewPayload } from "./protocol.ts";

/**
 * Checks the arguments of `connecta.ui(html, options?)`. Whether the addresses exist, whether they
 * are read-only and whether the budget has room is decided by the caller.
 * @param args the arguments as they crossed the sandbox
 * @returns the payload, exactly as declared, or `invalid_args` naming the place without its value
 */
export function acceptPayload(args: readonly unknown[]): Outcome<ViewPayload> {
  if (args.length === 0 || args.length > 2) {
    return invalid("takes one string of HTML, or that and { reads }");
  }
  const [html, options] = args;
  if (typeof html !== "string") return invalid("takes a string of HTML as its first argument");
  if (args.length === 1) return accept({ html });
  if (!isPlainObject(options) || Object.keys(options).join() !== "reads") {
    return invalid("takes { reads } as its second argument, and nothing else in it");
  }
  return accept({ html, reads: options.reads });
}

function accept(candidate: Record<string, unknown>): Outcome<ViewPayload> {
  // A present but undefined manifest is a mistake of the program, not a plain payload.
  if ("reads" in candidate && candidate.reads === undefined) {
    return invalid("takes { reads } as its second argument: reads is not an object");
  }
  const checked = checkPayload(candidate);
  return checked.ok ? ok(checked.value) : invalid(`refuses its arguments: ${checked.message}`);
}

/** What a payload weighs: UTF-8 bytes of its JSON. */
export function payloadBytes(payload: ViewPayload): number {
  return utf8Length(JSON.stringify(payload));
}

function invalid(problem: string): Outcome<never> {
  return fail("invalid_args", `connecta.ui ${problem}.`);
}
