import { parse, type Node, type Program } from "acorn";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { clampChars } from "../shared/text.ts";

/** A program ready to be embedded: one expression, and how its positions map to the given text. */
export interface ProgramSource {
  /** An arrow function expression, on lines of its own. */
  readonly expression: string;
  /** Lines that `expression` has above the line that was given as line 1. */
  readonly addedLines: number;
}

const ECMA_VERSION = 2023;
const FENCE = /^\s*```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/;

/**
 * Accepts one arrow function, or one of the forms that models write instead: fenced, a bare body
 * with `return` and `await`, `export default`, a trailing semicolon, leading comments.
 * @returns `invalid_program` with line, column (both from 1) and an excerpt otherwise
 */
export function readProgram(code: string): Outcome<ProgramSource> {
  const fenced = FENCE.exec(code);
  // The fence's own line stays as an empty one, so that positions fit the text that was sent.
  const fenceLines = fenced ? code.slice(0, code.indexOf("```") + 3).split("\n").length : 0;
  const text = fenced ? "\n".repeat(fenceLines) + (fenced[1] ?? "") : code;
  if (text.trim() === "") {
    return fail("invalid_program", "The program is empty: send one async arrow function.");
  }
  let tree: Program;
  try {
    tree = parse(text, {
      ecmaVersion: ECMA_VERSION,
      sourceType: "module",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
  } catch (error) {
    return { ok: false, failure: syntaxFailure(text, error as AcornError) };
  }
  return embed(text, tree);
}

interface AcornError extends SyntaxError {
  readonly pos: number;
  readonly loc: { readonly line: number; readonly column: number };
}

function embed(text: string, tree: Program): Outcome<ProgramSource> {
  const moduleSyntax = tree.body.find(
    (node) =>
      node.type === "ImportDeclaration" ||
      node.type === "ExportNamedDeclaration" ||
      node.type === "ExportAllDeclaration",
  );
  if (moduleSyntax) {
    return refused(text, moduleSyntax, "Programs have no modules: remove import and export.");
  }
  const [only] = tree.body;
  if (tree.body.length === 1 && only) {
    if (only.type === "ExportDefaultDeclaration") {
      return exported(text, only.declaration);
    }
    if (only.type === "ExpressionStatement") {
      const { expression } = only;
      if (expression.type === "ArrowFunctionExpression") return asArrow(text, expression);
      return ok({ expression: `async () => (\n${cut(text, expression)}\n)`, addedLines: 1 });
    }
    if (only.type === "FunctionDeclaration") {
      return refused(
        text,
        only,
        "The program declares a function and never calls it: send an async arrow function.",
      );
    }
  }
  const exportDefault = tree.body.find((node) => node.type === "ExportDefaultDeclaration");
  if (exportDefault) {
    return refused(text, exportDefault, "Programs have no modules: remove export default.");
  }
  return ok({ expression: `async () => {\n${text}\n}`, addedLines: 1 });
}

function exported(text: string, node: Node): Outcome<ProgramSource> {
  if (node.type === "ArrowFunctionExpression") return asArrow(text, node);
  if (node.type === "FunctionDeclaration" || node.type === "FunctionExpression") {
    return ok({ expression: cut(text, node), addedLines: 0 });
  }
  return refused(text, node, "export default must be followed by an async arrow function.");
}

function asArrow(text: string, node: Node): Outcome<ProgramSource> {
  return ok({ expression: cut(text, node), addedLines: 0 });
}

/** The node's text with everything before it blanked, so that lines and columns stay. */
function cut(text: string, node: Node): string {
  return text.slice(0, node.start).replace(/[^\n]/g, " ") + text.slice(node.start, node.end);
}

function refused(text: string, node: Node, message: string): Outcome<never> {
  const before = text.slice(0, node.start).split("\n");
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  return fail("invalid_program", message, { line, column, excerpt: caret(text, line, column) });
}

function syntaxFailure(text: string, error: AcornError): Failure {
  const { line } = error.loc;
  const column = error.loc.column + 1;
  const where = `Line ${line}, column ${column}`;
  const typescript = typescriptHint(text, error.pos);
  const reason = error.message.replace(/\s*\(\d+:\d+\)$/, "");
  const message = typescript
    ? `${where}: programs are plain JavaScript, not TypeScript: ${typescript}.`
    : `${where}: ${reason}.`;
  return fail("invalid_program", message, { line, column, excerpt: caret(text, line, column) })
    .failure;
}

const MAX_EXCERPT_CHARS = 120;

/** The line of a position and a caret under its column. */
function caret(text: string, line: number, column: number): string {
  const source = (text.split("\n")[line - 1] ?? "").replaceAll("\t", " ");
  const from = Math.max(0, column - 1 - MAX_EXCERPT_CHARS / 2);
  const shown = source.slice(from, from + MAX_EXCERPT_CHARS);
  return `${shown}\n${" ".repeat(Math.max(0, column - 1 - from))}^`;
}

const ANNOTATION = /^:\s*[A-Za-z_$][\w$.]*(?:<[^;=)]*>)?(?:\[\])*(?:\s*\|\s*[\w$."']+)*/;
const STATEMENT = /(?:^|[\s;{}])(interface|type|enum|declare|namespace|abstract)\s+$/;

/** What to remove when the error lies in TypeScript syntax, else `undefined`. */
function typescriptHint(text: string, pos: number): string | undefined {
  const before = text.slice(Math.max(0, pos - 200), pos);
  const after = text.slice(pos, pos + 200);
  const annotation = ANNOTATION.exec(after)?.[0];
  if (annotation !== undefined && /[\w$)\]}?]\s*$/.test(before)) {
    return `remove the type annotation "${clampChars(annotation, 60)}"`;
  }
  const keyword = STATEMENT.exec(before)?.[1];
  if (keyword !== undefined) return `remove the ${keyword} declaration`;
  const declared = /^(interface|enum|namespace|declare)\s+[A-Za-z_$]/.exec(after)?.[1];
  if (declared !== undefined) return `remove the ${declared} declaration`;
  const cast = /^(?:as|satisfies)\s+[A-Za-z_$][\w$.]*(?:\[\])*/.exec(after)?.[0];
  if (cast !== undefined) return `remove "${clampChars(cast, 60)}"`;
  if (/^!\s*[.;,)\]]/.test(after) || /!\s*$/.test(before)) return 'remove the "!" assertion';
  if (/^\?\s*[:,)]/.test(after)) return 'remove the "?" of the optional parameter';
  if (
    /(?:^|[\s(])[\w$.]*<[\w$.,\s[\]|]*>?$/.test(before) &&
    /^[\w$.,\s[\]|]*>?\s*[(=>]/.test(after)
  ) {
    return "remove the type parameters between < and >";
  }
  return undefined;
}
