/** Shorter values are words like `true` or `eu-1`, whose removal would only garble texts. */
const MIN_VALUE_CHARS = 5;
/** Shorter parts are words like `Bearer`. */
const MIN_PART_CHARS = 8;
const PLACEHOLDER = "[redacted]";

/**
 * Takes credentials out of texts that somebody else wrote.
 * @param values header or environment values; of `Bearer x` the `x` is a secret as well
 */
export function redactor(values: Iterable<string>): (text: string) => string {
  const secrets = new Set<string>();
  for (const value of values) {
    if (value.length >= MIN_VALUE_CHARS) secrets.add(value);
    for (const part of value.split(/[\s,;]+/)) {
      if (part.length >= MIN_PART_CHARS) secrets.add(part);
    }
  }
  // A secret within another one must not leave the rest of the longer one behind.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, one) => rest.replaceAll(one, PLACEHOLDER), text);
}

const MAX_CAUSES = 5;

/** An error whose texts hold no credential: itself where they hold none, else a copy. */
export function redactedError(
  error: unknown,
  redact: (text: string) => string,
  depth = 0,
): unknown {
  if (typeof error === "string") return redact(error);
  if (!(error instanceof Error) || depth > MAX_CAUSES) return error;
  const { name, message, stack = "" } = error;
  const cause = redactedError(error.cause, redact, depth + 1);
  const isClean = [name, message, stack].every((text) => redact(text) === text);
  if (isClean && cause === error.cause) return error;
  const copy = new Error(redact(message), cause === undefined ? {} : { cause });
  copy.name = redact(name);
  copy.stack = redact(stack);
  return copy;
}
