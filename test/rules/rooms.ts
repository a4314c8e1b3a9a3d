import type { Import } from "./graph.ts";

/**
 * The height of every room of `server/`. Imports point down; rooms of equal height are strangers.
 * The entries stand in three steps of their own: a runtime's entry builds on the portable one.
 */
const HEIGHTS: Readonly<Record<string, number>> = {
  node: 8,
  worker: 8,
  "index.ts": 7,
  "config.ts": 6,
  "config-form.ts": 5,
  "version.ts": 6,
  http: 5,
  tools: 4,
  programs: 3,
  invoke: 2,
  catalog: 1,
  connectors: 1,
  sandbox: 1,
  access: 1,
  view: 1,
  shared: 0,
};
const ENTRY_HEIGHT = 6;

/** What an entry injects; the rooms above it know its contract in `shared/` only. */
const INJECTED = [
  /^server\/connectors\//,
  /^server\/sandbox\//,
  /^server\/\w+\/(drivers|providers)\//,
];

const PROTOCOL = "server/view/protocol.ts";
const AMBIENT = /\.d\.ts$/;

/** What each house outside `server/` may see of the others; `test/` and the build see everything. */
const OUTSIDE: Readonly<Record<string, readonly RegExp[]>> = {
  shell: [/^shell\//, exactly(PROTOCOL)],
  verify: [
    /^verify\//,
    /^examples\//,
    exactly(PROTOCOL),
    exactly("server/index.ts"),
    exactly("server/config.ts"),
    /^server\/(node|worker)\//,
    exactly("shell/build.ts"),
    exactly("server/sandbox/pool.ts"),
    exactly("scripts/ensure/browser.mjs"),
    exactly("scripts/ensure/child.mjs"),
  ],
  examples: [/^examples\//, exactly("server/index.ts"), /^server\/(node|worker)\/index\.ts$/],
  scripts: [/^scripts\//, /^dist\//],
};

function exactly(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.")}$`);
}

/** Why an import is forbidden, naming the file and the import; `undefined` when it is not. */
export function violation({ from, specifier, to }: Import): string | undefined {
  if (to === undefined || AMBIENT.test(to)) return undefined;
  const reason = from.startsWith("server/") ? withinServer(from, to) : fromOutside(from, to);
  return reason === undefined ? undefined : `${from} imports ${specifier}: ${reason}`;
}

function withinServer(from: string, to: string): string | undefined {
  if (from === "server/version.ts" && to === "package.json") return undefined;
  if (!to.startsWith("server/")) return "server/ knows nothing outside itself";
  const [mine, theirs] = [room(from), room(to)];
  const [above, below] = [HEIGHTS[mine], HEIGHTS[theirs]];
  if (above === undefined) return `${mine} is no room of the house`;
  if (below === undefined) return `${theirs} is no room of the house`;
  if (mine === theirs) return undefined;
  if (above < ENTRY_HEIGHT && INJECTED.some((injected) => injected.test(to))) {
    return "an entry injects this; a room knows its contract in shared/ only";
  }
  if (above > below) return undefined;
  return above === below
    ? `${mine} and ${theirs} are of equal height: strangers`
    : `${mine} (${above}) lies below ${theirs} (${below})`;
}

function fromOutside(from: string, to: string): string | undefined {
  const [house = ""] = from.split("/");
  const allowed = OUTSIDE[house];
  if (!from.includes("/") || !allowed || allowed.some((pattern) => pattern.test(to)))
    return undefined;
  return `${house}/ may not see it`;
}

function room(path: string): string {
  return path.split("/")[1] ?? "";
}
