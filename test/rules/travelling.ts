import type { ESTree } from "vite";
import { importsOf } from "./graph.ts";
import { parse, type Source } from "./tree.ts";

/** The modules that some file imports as text with `?travel`. */
export function travelling(files: readonly Source[]): readonly Source[] {
  const paths = new Set(
    files.flatMap((file) =>
      importsOf(file).flatMap(({ specifier, to }) =>
        specifier.endsWith("?travel") && to !== undefined ? [to] : [],
      ),
    ),
  );
  return files.filter(({ path }) => paths.has(path));
}

/** What keeps a module from travelling: anything but types and one default-exported function. */
export function staysBehind(source: Source): readonly string[] {
  const { program, module } = parse(source);
  const reasons = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => `imports a value from ${moduleRequest.value}`);
  if (module.dynamicImports.length > 0) reasons.push("imports at run time");
  if (module.importMetas.length > 0) reasons.push("reads import.meta");
  const values = program.body.filter((node) => !isType(node));
  const defaults = values.filter(
    (node) =>
      node.type === "ExportDefaultDeclaration" && node.declaration.type === "FunctionDeclaration",
  );
  if (defaults.length !== 1) reasons.push("has no default-exported function");
  if (values.length > defaults.length) reasons.push("holds more than its one function");
  return reasons;
}

function isType(node: ESTree.Statement | ESTree.Directive): boolean {
  return (
    node.type === "ImportDeclaration" ||
    node.type === "TSInterfaceDeclaration" ||
    node.type === "TSTypeAliasDeclaration" ||
    (node.type === "ExportNamedDeclaration" && node.exportKind === "type")
  );
}
