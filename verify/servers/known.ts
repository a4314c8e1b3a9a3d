import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where servers find what a test made for them. */
export interface Surroundings {
  /** Made by {@link makeFolder}. */
  readonly folder: string;
  /** A git repository whose last commit is called "Change 3". */
  readonly repository: string;
  /** Nobody answers below it. */
  readonly nowhere: string;
}

/** A call, and a text that its answer holds; `fails` for one that a server must refuse. */
export interface Trial {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly holds: string;
  readonly fails?: boolean;
  /** Such a tool says nothing of itself, and nobody classified it. */
  readonly approved?: boolean;
}

/** A server of a package that people have. */
export interface Known {
  readonly id: string;
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Speaks HTTP on that port, at `/mcp`, instead of stdio. */
  readonly http?: { readonly headers?: Readonly<Record<string, string>> };
  /** What a tool is looked for by. */
  readonly query: string;
  /** Its tools that only read, as somebody found who looked. */
  readonly readOnly?: readonly string[];
  readonly trial: Trial;
}

/** Makes the folder, with something to read for each server that reads files. */
export function makeFolder({ folder }: Surroundings): void {
  mkdirSync(join(folder, "bank/kitchen"), { recursive: true });
  const page = '<diagram name="Pantry"><mxGraphModel><root/></mxGraphModel></diagram>';
  const files = {
    "note.txt": "remember the milk",
    "plan.drawio": `<mxfile>${page}</mxfile>`,
    "sum.js": "var sum = 1;\n",
    "eslint.config.mjs": 'export default [{ rules: { "no-var": "error" } }];\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

const REFERENCE = "@modelcontextprotocol/server-";

/** The reference servers, which need neither a network nor a credential. */
function reference({ folder }: Surroundings): readonly Known[] {
  return [
    {
      id: "everything",
      package: `${REFERENCE}everything`,
      query: "echo back a message",
      trial: { tool: "echo", args: { message: "the milk" }, holds: "the milk" },
    },
    {
      id: "files",
      package: `${REFERENCE}filesystem`,
      args: [folder],
      query: "read a text file",
      trial: { tool: "read_text_file", args: { path: `${folder}/note.txt` }, holds: "the milk" },
    },
    {
      id: "memory",
      package: `${REFERENCE}memory`,
      env: { MEMORY_FILE_PATH: `${folder}/memory.jsonl` },
      query: "read the knowledge graph",
      trial: { tool: "read_graph", args: {}, holds: "entities" },
    },
    {
      id: "thinking",
      package: `${REFERENCE}sequential-thinking`,
      query: "think step by step",
      trial: {
        tool: "sequentialthinking",
        args: { thought: "a", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        holds: "thoughtHistoryLength",
        approved: true,
      },
    },
  ];
}

/** Servers of others that need neither. */
function local({ folder, repository }: Surroundings): readonly Known[] {
  return [
    {
      id: "calc",
      package: "@coo-quack/calc-mcp",
      query: "encode base64",
      readOnly: ["base64"],
      trial: {
        tool: "base64",
        args: { action: "encode", input: "the milk" },
        holds: "dGhlIG1pbGs=",
      },
    },
    {
      id: "git",
      package: "@cyanheads/git-mcp-server",
      query: "commit history of a repository",
      trial: { tool: "git_log", args: { path: repository }, holds: "Change 3" },
    },
    {
      id: "drawio",
      package: "@drawio/mcp",
      query: "list the pages of a diagram",
      readOnly: ["list_pages"],
      trial: { tool: "list_pages", args: { path: `${folder}/plan.drawio` }, holds: "Pantry" },
    },
    {
      id: "eslint",
      package: "@eslint/mcp",
      query: "lint files",
      readOnly: ["lint-files"],
      trial: { tool: "lint-files", args: { filePaths: [`${folder}/sum.js`] }, holds: "no-var" },
    },
    {
      id: "bank",
      package: "@allpepper/memory-bank-mcp",
      env: { MEMORY_BANK_ROOT: `${folder}/bank` },
      query: "list the projects of the memory bank",
      readOnly: ["list_projects"],
      trial: { tool: "list_projects", args: {}, holds: "kitchen" },
    },
    {
      id: "commands",
      package: "mcp-server-commands",
      query: "run a shell command",
      trial: {
        tool: "run_command",
        args: { command: "echo the milk" },
        holds: "the milk",
        approved: true,
      },
    },
  ];
}

/** Servers of services: what they answer here is a failure, and how they fail is looked at. */
function foreign({ nowhere }: Surroundings): readonly Known[] {
  const pie = {
    tool: "generate_pie_chart",
    args: { data: [{ category: "milk", value: 1 }] },
    holds: "ECONNREFUSED",
    fails: true,
  };
  return [
    {
      id: "chart",
      package: "@antv/mcp-server-chart",
      env: { VIS_REQUEST_SERVER: nowhere },
      query: "pie chart",
      trial: pie,
    },
    {
      id: "postgres",
      package: `${REFERENCE}postgres`,
      args: [`${nowhere.replace("http", "postgresql")}/none`],
      query: "run a read-only SQL query",
      readOnly: ["query"],
      trial: { tool: "query", args: { sql: "select 1" }, holds: "ECONNREFUSED", fails: true },
    },
    {
      id: "notion",
      package: "@notionhq/notion-mcp-server",
      env: { BASE_URL: nowhere },
      query: "who am I, the bot user of this token",
      trial: { tool: "API-get-self", args: {}, holds: "ECONNREFUSED", fails: true },
    },
    {
      id: "context7",
      package: "@upstash/context7-mcp",
      env: { CONTEXT7_API_URL: nowhere },
      query: "documentation of a library",
      trial: {
        tool: "resolve-library-id",
        args: { query: "routing", libraryName: "hono" },
        holds: "fetch failed",
      },
    },
  ];
}

/** All servers, three of them once more over HTTP, and those first. */
export function knownServers(around: Surroundings): readonly Known[] {
  const all = [...reference(around), ...local(around), ...foreign(around)];
  const over = (id: string, more: Partial<Known>): Known[] =>
    all
      .filter((one) => one.id === id)
      .map((one) => ({ ...one, id: `${id}_http`, http: {}, ...more }));
  return [
    ...over("everything", { args: ["streamableHttp"] }),
    ...over("chart", {
      args: ["--transport", "streamable", "--host", "127.0.0.1", "--port", PORT],
    }),
    ...over("notion", {
      args: ["--transport", "http", "--auth-token", TOKEN, "--port", PORT],
      http: { headers: { Authorization: `Bearer ${TOKEN}` } },
    }),
    ...all,
  ];
}

/** Stands for the port in arguments. */
export const PORT = "<port>";
/** For nothing but to see that it is sent. */
const TOKEN = "loopback-only";
