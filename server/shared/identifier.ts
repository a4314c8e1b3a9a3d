const RESERVED_WORDS = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum " +
    "eval export extends false finally for function if implements import in instanceof interface " +
    "let new null package private protected public return static super switch this throw true " +
    "try typeof var void while with yield"
  ).split(" "),
);

/** A name as programs can write it: `github-api` becomes `github_api`, `2do` `_2do`, `new` `new_`. */
export function identifier(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_$]/g, "_");
  if (/^[0-9]/.test(cleaned)) return `_${cleaned}`;
  return RESERVED_WORDS.has(cleaned) ? `${cleaned}_` : cleaned;
}
