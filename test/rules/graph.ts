import { builtinModules } from "node:module";
import { posix } from "node:path";
import { Visitor } from "vite";
import { parse, type Source } from "./tree.ts";

/** One import as written, and the file of ours that it means, when it means one. */
export interface Import {
  readonly from: string;
  readonly specifier: string;
  /** Path from the repository; `undefined` for a package, a builtin or a virtual module. */
  readonly to: string | undefined;
}

const SELF: Readonly<Record<string, string>> = {
  connecta: "server/index.ts",
  "connecta/node": "server/node/index.ts",
  "connecta/sandbox": "server/sandbox/pool.ts",
  "connecta/worker": "server/worker/index.ts",
};

/** Every module that a file names: static, re-exported, dynamic and in types. */
export function importsOf(source: Source): readonly Import[] {
  const { module, program } = parse(source);
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest.value] : [])),
    ),
  ];
  new Visitor({
    ImportExpression(node) {
      if (node.source.type === "Literal") specifiers.push(String(node.source.value));
    },
    TSImportType(node) {
      specifiers.push(node.source.value);
    },
  }).visit(program);
  return [...new Set(specifiers)].map((specifier) => ({
    from: source.path,
    specifier,
    to: target(source.path, specifier),
  }));
}

function target(from: string, specifier: string): string | undefined {
  const [path = ""] = specifier.split("?");
  if (path.startsWith(".")) return posix.normalize(posix.join(posix.dirname(from), path));
  return Object.hasOwn(SELF, path) ? SELF[path] : undefined;
}

const BUILTINS = new Set(builtinModules);

/** Whether a specifier names something that only Node has. */
export function isNodeOnly(specifier: string): boolean {
  return (
    specifier.startsWith("node:") ||
    BUILTINS.has(specifier) ||
    specifier === "@hono/node-server" ||
    specifier === "libsql" ||
    specifier === "@redis/client" ||
    /^undici(?:\/|$)/.test(specifier) ||
    specifier === "@modelcontextprotocol/node" ||
    /^@modelcontextprotocol\/client\/stdio$/.test(specifier)
  );
}

/** A way from an entry to an import that it must not reach. */
export interface Chain {
  readonly through: readonly string[];
  readonly specifier: string;
}

/** Every import for which `forbidden` holds and that `entry` reaches, with the way to it. */
export function reaches(
  files: readonly Source[],
  entry: string,
  forbidden: (specifier: string) => boolean,
): readonly Chain[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const found: Chain[] = [];
  const walk = (path: string, through: readonly string[]): void => {
    const file = byPath.get(path);
    if (!file || seen.has(path)) return;
    seen.add(path);
    for (const { specifier, to } of importsOf(file)) {
      if (forbidden(specifier)) found.push({ through: [...through, path], specifier });
      if (to !== undefined) walk(to, [...through, path]);
    }
  };
  walk(entry, []);
  return found;
}
