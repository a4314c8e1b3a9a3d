import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { stdioMcp } from "../../../server/connectors/stdio/stdio.ts";
import type { Connector } from "../../../server/shared/contracts.ts";
import { testScope } from "../../support/scope.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { PACKAGES = root } = process.env;
const folder = mkdtempSync(join(tmpdir(), "connecta-packages-"));
writeFileSync(join(folder, "note.txt"), "remember the milk");

/** Servers that people have, each with one call and a text that its answer holds. */
const SERVERS = [
  {
    name: "@modelcontextprotocol/server-everything",
    args: [],
    tool: "echo",
    input: { message: "remember the milk" },
    holds: "remember the milk",
  },
  {
    name: "@modelcontextprotocol/server-filesystem",
    args: [folder],
    tool: "read_text_file",
    input: { path: join(folder, "note.txt") },
    holds: "remember the milk",
  },
  {
    name: "@modelcontextprotocol/server-memory",
    args: [],
    tool: "read_graph",
    input: {},
    holds: "entities",
  },
  {
    name: "@modelcontextprotocol/server-sequential-thinking",
    args: [],
    tool: "sequentialthinking",
    input: { thought: "a", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    holds: "thoughtNumber",
  },
] as const;

/** The program of an installed package, `undefined` when it is not installed. */
function programOf(name: string): string | undefined {
  const path = createRequire(join(PACKAGES, "package.json"))
    .resolve.paths(name)
    ?.map((place) => join(place, name, "package.json"))
    .find(existsSync);
  if (path === undefined) return undefined;
  const { bin } = JSON.parse(readFileSync(path, "utf8")) as { bin: Record<string, string> };
  return join(dirname(path), Object.values(bin)[0] ?? "");
}

const open: Connector[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connector) => connector.close?.()));
});

describe("servers that people have, over stdio", () => {
  for (const { name, args, tool, input, holds } of SERVERS) {
    const program = programOf(name);
    const missing = program === undefined ? ": skipped, the package is not installed" : "";
    test.skipIf(program === undefined)(
      `${name}${missing}`,
      async () => {
        const one = stdioMcp({
          id: "one",
          command: process.execPath,
          args: [program ?? "", ...args],
          env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
          startTimeoutMs: 25_000,
        });
        open.push(one);
        const listed = await one.listTools(testScope());
        expect(listed.ok && listed.value.map((each) => each.name)).toContain(tool);
        const answer = await one.callTool(tool, input, testScope());
        expect(answer).toMatchObject({ ok: true, value: { kind: "mcp" } });
        expect(JSON.stringify(answer)).toContain(holds);
      },
      30_000,
    );
  }
});
