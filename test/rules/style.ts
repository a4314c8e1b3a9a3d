import { Visitor, type ESTree } from "vite";
import { lineAt, parse, type Source } from "./tree.ts";

/** What a file does that the house does not: each as `path:line what`. */
export function offences(source: Source): readonly string[] {
  const { program, comments } = parse(source);
  const found: string[] = [];
  const report = (offset: number, what: string): void => {
    found.push(`${source.path}:${lineAt(source.text, offset)} ${what}`);
  };
  for (const { value, start } of comments) {
    const directive = /@ts-(?:ignore|nocheck)|(?:ox|es)lint-disable(?!-next-line)/.exec(value);
    if (directive) report(start, directive[0]);
  }
  new Visitor({
    TSAnyKeyword: (node) => report(node.start, "any"),
    ...(source.path.endsWith(".test.ts") ? testOffences(report) : {}),
  }).visit(program);
  return found;
}

const NARROWING = new Set(["only", "skip", "todo", "fails", "retry"]);
const RUNNERS = new Set(["describe", "it", "suite", "test"]);

function testOffences(report: (offset: number, what: string) => void) {
  return {
    MemberExpression(node: ESTree.MemberExpression) {
      const { object, property } = node;
      if (object.type !== "Identifier" || !RUNNERS.has(object.name)) return;
      if (property.type === "Identifier" && NARROWING.has(property.name)) {
        report(node.start, `${object.name}.${property.name}`);
      }
    },
    Property(node: ESTree.Node) {
      if (node.type !== "Property" || node.key.type !== "Identifier") return;
      if (node.key.name === "retry" && node.value.type === "Literal") report(node.start, "retry");
    },
  };
}
