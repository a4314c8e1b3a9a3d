import { fail, failure, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampChars, clampUtf8 } from "../shared/text.ts";

/** What the parser throws: a place, unless it ran out of stack. */
export interface SyntaxFault extends Error {
  readonly pos?: number;
  readonly loc?: { readonly line: number; readonly column: number };
}

/** Refuses a program at a place, with line, column and an excerpt. */
export function refuse(
  text: string,
  { start }: { readonly start: number },
  message: string,
): Outcome<never> {
  const before = text.slice(0, start).split("\n");
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  const excerpt = caret(text, line, column);
  return fail("invalid_program", message, { line, column, excerpt });
}

/**
 * A syntax error that only the interpreter found, at its place in the text that was sent.
 * @param addedLines lines that the interpreter saw above the text's first
 */
export function atItsPlace(reported: Failure, text: string, addedLines: number): Failure {
  const line = (reported.line ?? 0) - addedLines;
  if (reported.code !== "invalid_program" || line < 1) return reported;
  const column = reported.column ?? 1;
  const message = `Line ${line}, column ${column}: ${clampUtf8(reported.message, LIMITS.echoBytes.value / 2)}`;
  return failure("invalid_program", message, { line, column, excerpt: caret(text, line, column) });
}

/** The failure of a text that is no JavaScript; TypeScript is answered by what to remove. */
export function syntaxFailure(text: string, fault: SyntaxFault): Failure {
  if (fault.loc === undefined || fault.pos === undefined) {
    return failure("invalid_program", "The program is nested too deeply to be read.");
  }
  const { line } = fault.loc;
  const column = fault.loc.column + 1;
  const where = `Line ${line}, column ${column}`;
  const typescript = typescriptHint(text, fault.pos);
  const message = typescript
    ? `${where}: programs are plain JavaScript, not TypeScript: ${typescript}.`
    : `${where}: ${reason(fault.message)}.`;
  return failure("invalid_program", message, { line, column, excerpt: caret(text, line, column) });
}

/** The parser ends its sentence with the position, and quotes what it could not read at any length. */
function reason(message: string): string {
  const end = message.lastIndexOf(" (");
  return clampUtf8(end < 0 ? message : message.slice(0, end), LIMITS.echoBytes.value / 2);
}

const MAX_EXCERPT_CHARS = 120;

/** The line of a position and a caret under its column. */
function caret(text: string, line: number, column: number): string {
  const source = (text.split("\n")[line - 1] ?? "").replaceAll("\t", " ");
  const from = Math.max(0, column - 1 - MAX_EXCERPT_CHARS / 2);
  const shown = source.slice(from, from + MAX_EXCERPT_CHARS);
  return `${shown}\n${" ".repeat(Math.max(0, column - 1 - from))}^`;
}

/** How far around the fault the hints look; they must stay cheap on any text. */
const NEAR = 80;
const MODIFIERS = "private|public|protected|readonly|abstract|override|declare|implements";
const DECLARED = "interface|enum|namespace|declare|type|abstract";

/** What to remove when the fault lies in TypeScript syntax, else `undefined`. */
function typescriptHint(text: string, pos: number): string | undefined {
  const before = text.slice(Math.max(0, pos - NEAR), pos).trimEnd();
  const after = text.slice(pos, pos + NEAR);
  const shown = (pattern: RegExp) => clampChars(pattern.exec(after)?.[0].trim() ?? "", 40);
  const operand = /[\w$)\]}'"?]$/.test(before);
  if (operand && after.startsWith(":")) {
    const optional = before.endsWith("?") ? "?" : "";
    return `remove the type annotation "${optional}${shown(/^:[^,);=\n]*/)}"`;
  }
  const modifier = new RegExp(`^(?:${MODIFIERS})\\b`).exec(after)?.[0];
  const follows = new RegExp(`\\b(${MODIFIERS})$`).exec(before)?.[1];
  const keyword = new RegExp(`^(${DECLARED})\\s+[\\w$]`).exec(after)?.[1];
  const started = new RegExp(`(?:^|[\\s;{}])(${DECLARED})$`).exec(before)?.[1];
  if (started ?? keyword) return `remove the ${started ?? keyword} declaration`;
  if (modifier ?? follows) return `remove "${modifier ?? follows}"`;
  if (/^(?:as|satisfies)\s+\S/.test(after)) return `remove "${shown(/^\w+\s+[^,);\s]*/)}"`;
  if (operand && after.startsWith("!")) return 'remove the "!" assertion';
  if (before.endsWith("!")) return 'remove the "!" assertion';
  if (/^\?\s*[:,)]/.test(after)) return 'remove the "?" of the optional parameter';
  if (/^<\s*[A-Za-z_$]/.test(after)) return "remove the type between < and >";
  if (/\basync\s*<[^<>()]*>\s*\([^()]*\)$/.test(before) && after.startsWith("=>")) {
    return "remove the type between < and >";
  }
  if (/<[\w$.\s,[\]|]*$/.test(before) && /^[\w$.\s,[\]|]*>?\s*[(=>{]/.test(after)) {
    return "remove the type between < and >";
  }
  return undefined;
}
