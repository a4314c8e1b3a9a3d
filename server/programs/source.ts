import {
  Parser,
  tokTypes,
  type Node,
  type Options,
  type Program,
  type Token,
  type TokenType,
} from "acorn";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { refuse, syntaxFailure, type SyntaxFault } from "./syntax.ts";

/** A program ready to be embedded: one expression, and how its positions map to the given text. */
export interface ProgramSource {
  /** A function expression, on lines of its own. */
  readonly expression: string;
  /** Lines that `expression` has above the line that was given as line 1. */
  readonly addedLines: number;
}

/** Reads programs beside everything else: a large one takes longer than others should wait. */
export interface SourceReader {
  /**
   * What {@link readProgram} says of a program.
   * @returns also `executor_overloaded`, `executor_cancelled`, `executor_closed`,
   *   `executor_timeout` or `executor_crashed` when it was not read
   */
  read(code: string, signal: AbortSignal): Promise<Outcome<ProgramSource>>;
  close(): Promise<void>;
}

const FENCE_START = /^\s*```(?:[^\n`]*\n)?/;
const NO_MODULES = "Programs have no modules: remove import and export.";

/**
 * Accepts one function, or one of the forms that models write instead: fenced, a bare body with
 * `return` and `await`, `export default`, trailing semicolons, comments.
 * @returns `invalid_program` with line, column (both from 1) and an excerpt otherwise
 */
export function readProgram(code: string): Outcome<ProgramSource> {
  const text = unfenced(code);
  const parser = new ProgramParser(text);
  let tree: Program;
  try {
    tree = parser.parse();
  } catch (error) {
    return { ok: false, failure: syntaxFailure(text, error as SyntaxFault) };
  }
  if (parser.module) return refuse(text, parser.module, NO_MODULES);
  if (parser.htmlComment) {
    return refuse(text, parser.htmlComment, "Write // for a comment: <!-- and --> are none here.");
  }
  return embed(text, tree, parser.returns);
}

/** What is wrong with a program that was accepted and that an engine then refused to read. */
export function deeperFault(code: string): Failure | undefined {
  const text = unfenced(code);
  try {
    Parser.parse(text, OPTIONS);
    return undefined;
  } catch (error) {
    return syntaxFailure(text, error as SyntaxFault);
  }
}

/** The text inside a fenced block; above it stand as many lines as before, so positions fit. */
function unfenced(code: string): string {
  const start = FENCE_START.exec(code)?.[0];
  if (start === undefined) return code;
  let end = code.trimEnd().length - 3;
  if (end < start.length || !code.startsWith("```", end)) return code;
  while (code[end - 1] === " " || code[end - 1] === "\t") end--;
  return "\n".repeat(start.split("\n").length - 1) + code.slice(start.length, end);
}

const OPTIONS: Options = {
  ecmaVersion: 2023,
  sourceType: "module",
  allowHashBang: false,
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
};

/** Scripts take these for comments and modules do not, so neither may stand in a program. */
function opensHtmlComment(text: string, { type, start }: Token): boolean {
  if (type === tokTypes.relational) return text.startsWith("<!--", start);
  return type === tokTypes.incDec && text.startsWith("-->", start);
}

/** Parts of the parser that its types leave out and its plugins are made of. */
interface ParserInside {
  readonly inFunction: boolean;
  readonly input: string;
  pos: number;
  raise(pos: number, message: string): never;
  readWord1(): string;
  finishToken(type: TokenType, value: unknown): void;
  parseStatement(context: unknown, topLevel: unknown, exports: unknown): Node;
  parseReturnStatement(node: Node): Node;
  parseExprImport(forNew: unknown): Node;
}

const LINE_END = /[\n\r\u2028\u2029]/;

/** Stands for every statement inside a function: nobody looks there, and a large tree is slow. */
const UNSEEN: Node = Object.freeze({ type: "EmptyStatement", start: 0, end: 0 });

/** The methods that the types of the parser leave out. */
const methods = Parser.prototype as unknown as ParserInside;

/**
 * Leaves to the interpreter what would cost more than linear time here — names declared twice, the
 * inside of regular expressions. One class for all programs: the engine optimises a class, and
 * knows nothing yet about a new one.
 */
class ProgramParser extends Parser {
  /** Whether the text itself, outside any function, returns. */
  returns = false;
  /** Where `import(…)` or `import.meta` stands: some sandboxes have modules to offer. */
  module: { readonly start: number } | undefined;
  /** Where scripts and modules would read the program differently. */
  htmlComment: Token | undefined;

  constructor(text: string) {
    const notice = (token: Token) => {
      if (opensHtmlComment(text, token)) this.htmlComment ??= token;
    };
    // Tokens are shown only where it may matter: they cost as much as the parsing itself.
    const mayMatter = text.includes("<!--") || text.includes("-->");
    super(mayMatter ? { ...OPTIONS, onToken: notice } : OPTIONS, text);
  }

  declareName(): void {}

  checkLocalExport(): void {}

  readRegexp(): void {
    readRegularExpression(this as unknown as ParserInside);
  }

  parseStatement(context: unknown, topLevel: unknown, exports: unknown): Node {
    const inside = this as unknown as ParserInside;
    const statement = methods.parseStatement.call(inside, context, topLevel, exports);
    return inside.inFunction ? UNSEEN : statement;
  }

  parseExprImport(forNew: unknown): Node {
    const node = methods.parseExprImport.call(this as unknown as ParserInside, forNew);
    this.module ??= node;
    return node;
  }

  parseReturnStatement(node: Node): Node {
    const inside = this as unknown as ParserInside;
    if (!inside.inFunction) this.returns = true;
    return methods.parseReturnStatement.call(inside, node);
  }
}

/** Reads over a regular expression literal whose opening slash was read. */
function readRegularExpression(parser: ParserInside): void {
  const start = parser.pos;
  let [escaped, inClass] = [false, false];
  for (; ; parser.pos++) {
    const char = parser.input.charAt(parser.pos);
    if (char === "" || LINE_END.test(char)) parser.raise(start, "Unterminated regular expression");
    if (!escaped && !inClass && char === "/") break;
    if (!escaped && char === "[") inClass = true;
    else if (!escaped && char === "]") inClass = false;
    escaped = !escaped && char === "\\";
  }
  const pattern = parser.input.slice(start, parser.pos++);
  parser.finishToken(tokTypes.regexp, { pattern, flags: parser.readWord1(), value: null });
}

function embed(text: string, tree: Program, returns: boolean): Outcome<ProgramSource> {
  const body = tree.body.filter((node) => node.type !== "EmptyStatement" && !isDirective(node));
  const [first, ...more] = body;
  if (!first) return fail("invalid_program", "The program is empty: send an async arrow function.");
  const module = body.find((node) => /^(?:Import|Export(?:Named|All))/.test(node.type));
  if (module) return refuse(text, module, NO_MODULES);
  if (more.length === 0) {
    const whole = first.type === "ExportDefaultDeclaration" ? first.declaration : first;
    const program = whole.type === "ExpressionStatement" ? whole.expression : whole;
    if (isFunction(program, whole !== first)) {
      return ok({ expression: cut(text, program), addedLines: 0 });
    }
    if (whole !== first) {
      return refuse(text, program, "After export default stands an async arrow function.");
    }
  }
  const exported = body.find((node) => node.type === "ExportDefaultDeclaration");
  if (exported) return refuse(text, exported, NO_MODULES);
  // These would run, answer null and leave the model to guess.
  if (!returns && body.every(isSilent)) return refuse(text, first, withoutReturn(first));
  return ok({ expression: `async () => {\n${text}\n}`, addedLines: 1 });
}

function isFunction(node: Node, exported: boolean): boolean {
  const { type } = node;
  if (type === "ArrowFunctionExpression" || type === "FunctionExpression") return true;
  return exported && type === "FunctionDeclaration";
}

function isDirective(node: Node): boolean {
  return "directive" in node;
}

/** A statement that declares or computes something and hands it to nobody. */
function isSilent({ type }: Node): boolean {
  return /Declaration$|^(?:ExpressionStatement|BlockStatement|LabeledStatement)$/.test(type);
}

function withoutReturn(node: Node): string {
  return node.type === "FunctionDeclaration"
    ? "The program declares a function and never calls it: send an async arrow function."
    : "Send one async arrow function, or a body that ends in return: this returns nothing.";
}

/** The node's text with everything before it blanked, so that lines and columns stay. */
function cut(text: string, node: Node): string {
  return text.slice(0, node.start).replace(/[^\n]/g, " ") + text.slice(node.start, node.end);
}
