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
