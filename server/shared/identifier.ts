const RESERVED = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends " +
    "false finally for function if implements import in instanceof interface let new null package " +
    "private protected public return static super switch this throw true try typeof var void while " +
    "with yield"
  ).split(" "),
);

/**
 * The JavaScript name under which a connector or tool is reached as a shortcut.
 * @param name an id or tool name, whatever it contains
 */
export function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_$]/gu, "_");
  const started = plain === "" || /^[0-9]/.test(plain) ? `_${plain}` : plain;
  return RESERVED.has(started) ? `${started}_` : started;
}
