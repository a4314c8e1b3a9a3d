import { parseAst, type Plugin } from "vite";

/** Gives the new text of a module, or nothing when the module is not as expected. */
type Rewrite = (code: string) => string | undefined;

interface Expected {
  /** As a person names it; how the build fails without it. */
  readonly name: string;
  readonly id: RegExp;
  readonly rewrite: Rewrite;
}

const REFUSE = `const refuse = () => { throw new Error("This page converts no schema to JSON Schema."); };`;

/** Keeps every name of a module, each for a function that throws, or that makes one. */
const refusing: Rewrite = (code) => {
  // Every schema has its converters made when it is first used; only calling one is refused.
  const names = exportsOf(code).map(
    (name) => `${name.startsWith("create") ? "make" : "refuse"} as ${name}`,
  );
  if (names.length === 0) return undefined;
  return `${REFUSE}\nconst make = () => refuse;\nexport { ${names.join(", ")} };`;
};

const DOC = `export class Doc {
  constructor() { throw new Error("This page compiles no schema."); }
}`;

const REGISTRIES = `${REFUSE}
const nowhere = { add: () => nowhere, get: refuse, has: refuse, remove: refuse, clear: refuse };
export const registry = () => nowhere;
export const globalRegistry = nowhere;
export class $ZodRegistry { constructor() { return nowhere; } }
export const $output = Symbol("ZodOutput");
export const $input = Symbol("ZodInput");`;

/**
 * What the page leaves out of its packages: conversion to JSON Schema, which `App` reaches only for an
 * app that registers tools; compiled schemas; texts and tables that nothing here reads.
 */
const EXPECTED: readonly Expected[] = [
  zod("core/json-schema-processors.js", refusing),
  zod("core/to-json-schema.js", refusing),
  zod("core/doc.js", () => DOC),
  zod("core/registries.js", () => REGISTRIES),
  // A refusal of the host's answer then names the code, and the place as before.
  zod("locales/en.js", () => "export default () => ({ localeError: ({ code }) => code });"),
  // The probe for a compiler: the page's policy would report it.
  zod("core/util.js", (code) =>
    replaced(
      code,
      /^export const allowsEval = .*?^}\);$/ms,
      "export const allowsEval = { value: false };",
    ),
  ),
  {
    name: "the descriptions of @modelcontextprotocol/ext-apps",
    id: /\/@modelcontextprotocol\/ext-apps\/dist\/src\/app\.js$/,
    rewrite: (code) =>
      replaced(code, /\.describe\((?:`[^`$\\]*`|(["'])(?:(?!\1)[^\\]|\\.)*\1)\)/g, ""),
  },
  {
    name: "the table of types of @modelcontextprotocol/client",
    id: /\/@modelcontextprotocol\/client\/dist\/src-[\w-]+\.mjs$/,
    rewrite: (code) => replaced(code, /^for \(const .+ of .+\) register\(.+\);$/gm, ""),
  },
];

function zod(path: string, rewrite: Rewrite): Expected {
  const id = new RegExp(`/zod/v4/${path.replaceAll(".", "\\.")}$`);
  return { name: `zod/v4/${path}`, id, rewrite };
}

/**
 * Puts the smallest stand-ins in the place of what the page never uses of its packages. The build
 * fails by name when one of them is not found, as an upgrade may move it.
 */
export function standIns(): Plugin {
  const met = new Set<Expected>();
  return {
    name: "connecta:stand-ins",
    transform(code, id) {
      const path = id.replaceAll("\\", "/");
      const expected = EXPECTED.find((one) => one.id.test(path));
      const rewritten = expected?.rewrite(code);
      if (!expected || rewritten === undefined) return undefined;
      met.add(expected);
      return { code: rewritten, map: null };
    },
    buildEnd(error) {
      if (error) return;
      const missed = EXPECTED.filter((one) => !met.has(one)).map(({ name }) => name);
      if (missed.length > 0) this.error(`the shell's stand-ins do not fit: ${missed.join(", ")}`);
    },
  };
}

function replaced(code: string, pattern: RegExp, by: string): string | undefined {
  const without = code.replace(pattern, by);
  return without === code ? undefined : without;
}

/** The names that a module exports of its own. */
function exportsOf(code: string): string[] {
  const names: string[] = [];
  for (const node of parseAst(code).body) {
    if (node.type !== "ExportNamedDeclaration") continue;
    for (const { exported } of node.specifiers) {
      if (exported.type === "Identifier") names.push(exported.name);
    }
    const { declaration } = node;
    if (declaration?.type === "VariableDeclaration") {
      for (const { id } of declaration.declarations) {
        if (id.type === "Identifier") names.push(id.name);
      }
    } else if (declaration && "id" in declaration && declaration.id?.type === "Identifier") {
      names.push(declaration.id.name);
    }
  }
  return names;
}
