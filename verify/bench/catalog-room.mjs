// The catalog room on its own, without a server around it: what indexing and searching cost there.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TOP = 8;

/** Builds the room and opens it. */
export async function openCatalogRoom() {
  const { Catalogs, search } = await load();
  const catalogsOf = (connectors) => new Catalogs(connectors);

  async function find(within, query) {
    const page = await search(within, { query, limit: TOP }, 100, scope());
    if (!page.ok) throw new Error(`${query}: ${page.failure.message}`);
    return page.value;
  }

  /** Median and 95th percentile of a query, in milliseconds, warm. */
  async function cost(within, asked) {
    const times = [];
    for (let turn = 0; turn < 6; turn++) {
      for (const query of asked) {
        const ms = await timed(() => find(within, query));
        if (turn > 0) times.push(ms);
      }
    }
    times.sort((a, b) => a - b);
    return {
      p50: round(times[times.length >> 1]),
      p95: round(times[Math.floor(times.length * 0.95)]),
    };
  }

  /** Both on ten made-up catalogs of so many tools together. */
  async function madeUp(size) {
    const within = catalogsOf(lists(size).map(connector));
    const indexMs = round(await timed(() => find(within, "warm up")));
    const asked = ["list open invoices", "get contact details", "shop3 audit ticket by owner"];
    return { indexMs, ...(await cost(within, Array.from({ length: 20 }, () => asked).flat())) };
  }

  return { catalogsOf, find, cost, madeUp };
}

async function load() {
  const outDir = await mkdtemp(join(tmpdir(), "connecta-discovery-"));
  try {
    await build({
      root,
      configFile: false,
      logLevel: "error",
      publicDir: false,
      ssr: { noExternal: true },
      build: {
        ssr: true,
        outDir,
        emptyOutDir: false,
        target: "node20",
        rollupOptions: {
          input: {
            catalogs: join(root, "server/catalog/catalogs.ts"),
            search: join(root, "server/catalog/search.ts"),
          },
          output: { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
        },
      },
    });
    const load = (name) => import(pathToFileURL(join(outDir, name)).href);
    return { ...(await load("catalogs.mjs")), ...(await load("search.mjs")) };
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

/** A connector that has these tools and calls none. */
export function connector({ id, tools, serverInfo }) {
  const listed = tools.map((tool) => ({ description: "", annotations: {}, ...tool }));
  return {
    id,
    kind: "mcp",
    count: listed.length,
    ownTitle: () => serverInfo?.title ?? serverInfo?.name,
    listTools: async () => ({ ok: true, value: listed }),
    callTool: async () => ({
      ok: false,
      failure: { code: "internal", message: "", retryable: false },
    }),
  };
}

function scope() {
  return {
    signal: new AbortController().signal,
    now: () => Date.now(),
    defer: (task) => void task,
    principal: "anonymous",
    requestId: "bench",
  };
}

/** Ten lists whose tools share most of their words. */
function lists(size) {
  const nouns = "account contact deal invoice ticket order project task message report".split(" ");
  const verbs = "list get search count export compare update create archive audit".split(" ");
  return Array.from({ length: 10 }, (_, c) => ({
    id: `shop${c}`,
    tools: Array.from({ length: size / 10 }, (_, i) => {
      const [verb, noun] = [verbs[i % 10], nouns[(i + c) % 10]];
      return {
        name: `${verb}_${noun}_${i}`,
        description: `${verb} ${noun} data of shop ${c}, shard ${i}. Use it when a task needs ${noun} details filtered by owner, status or date.`,
        inputSchema: {
          type: "object",
          properties: {
            query: { type: "string", description: `Filter expression for ${noun}` },
            status: { type: "string", enum: ["open", "closed"] },
            limit: { type: "integer", description: "Page size" },
          },
        },
      };
    }),
  }));
}

export async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

export function round(value) {
  return Math.round(value * 1000) / 1000;
}
