import { Visitor, type ESTree } from "vite";
import { lineAt, parse, type Source } from "./tree.ts";

/** A function, method or arrow, measured from its first line to its last. */
export interface Measured {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

/** Callbacks of these group tests; their length is the length of a list, not of a thought. */
const GROUPS = new Set(["describe"]);

/**
 * Every function of a file. Left out are the callbacks of `describe` and, in a module that
 * travels, the one function that is the whole module by construction.
 */
export function functionsOf(source: Source, travels: boolean): readonly Measured[] {
  const { program } = parse(source);
  const groups = new Set<number>();
  const found: Measured[] = [];
  const measure = (node: ESTree.Function | ESTree.ArrowFunctionExpression): void => {
    if (groups.has(node.start)) return;
    const first = lineAt(source.text, node.start);
    const lines = lineAt(source.text, node.end) - first + 1;
    const name = "id" in node && node.id ? node.id.name : "(anonymous)";
    found.push({ path: source.path, name, line: first, lines });
  };
  new Visitor({
    CallExpression(node) {
      if (GROUPS.has(callee(node.callee)))
        for (const argument of node.arguments) groups.add(argument.start);
    },
    ExportDefaultDeclaration(node) {
      if (travels) groups.add(node.declaration.start);
    },
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return found;
}

/** `describe` of `describe(…)`, `describe.each(…)(…)` and their like. */
function callee(node: ESTree.Expression): string {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression") return callee(node.object);
  if (node.type === "CallExpression") return callee(node.callee);
  return "";
}
