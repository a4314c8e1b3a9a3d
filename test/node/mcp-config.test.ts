import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { fromMcpServers as portable } from "../../server/connectors/import/portable.ts";
import { fromMcpServers, loadMcpConfig } from "../../server/node/mcp-config.ts";
import { failureOf, valueOf } from "../support/catalog.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "connecta-import-"));
  for (const name of ["project", "project/.cursor"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "project/one.env"), "A=1");
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

/** Writes a file with one server and loads it. */
async function loaded(name: string, definition: object) {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ mcpServers: { a: definition } }));
  const { connectors, warnings } = valueOf(await loadMcpConfig(file, []));
  return { ids: connectors.map(({ id }) => id), said: warnings.map(({ message }) => message) };
}

/** What a reference stands for, as the id of a server called by it shows. */
function standsFor(reference: string): string | undefined {
  const { connectors } = fromMcpServers({
    mcpServers: { a: { command: "x", title: "t", args: [reference] } },
  });
  return connectors[0]?.id;
}

describe("fromMcpServers() on Node", () => {
  test("makes a connector of a server on the network and of one that is started", () => {
    const { connectors, warnings } = fromMcpServers(`{ "mcpServers": {
      "web": { "url": "https://mcp.example.com/mcp", "readOnly": ["look"] }, // and
      "local": { "command": "true", "disabledTools": ["drop"] },
    } }`);
    expect(connectors).toMatchObject([
      { id: "web", kind: "mcp", policy: { readOnly: ["look"] } },
      { id: "local", kind: "mcp", policy: { hide: ["drop"] } },
    ]);
    expect(warnings).toEqual([]);
  });

  test("fills in this process's environment, unless it is given another", () => {
    vi.stubEnv("CONNECTA_TEST_KEY", "1");
    const file = { mcpServers: { a: { command: "x", args: ["${CONNECTA_TEST_KEY}"] } } };
    expect(fromMcpServers(file).connectors).toHaveLength(1);
    expect(fromMcpServers(file, { env: {} }).warnings).toMatchObject([
      { server: "a", refused: true },
    ]);
  });

  test.each(["${userHome}", "${workspaceFolder}", "${workspaceFolderBasename}"])(
    "knows %s",
    (reference) => expect(standsFor(reference)).toBe("a"),
  );

  test("throws in one sentence what no deployment could start with", () => {
    for (const make of [fromMcpServers, portable]) {
      expect(() => make("{}")).toThrow(TypeError);
      expect(() => make("{}")).toThrow("It lists no servers");
      expect(() => make("{")).toThrow("It is no JSON: see line 1, column 2.");
    }
  });
});

describe("fromMcpServers() without Node", () => {
  test("makes connectors of servers on the network, and refuses the others by name", () => {
    const file = { mcpServers: { web: { url: "https://${HOST}/" }, local: { command: "x" } } };
    const { connectors, warnings } = portable(file, { env: { HOST: "mcp.example.com" } });
    expect(connectors.map(({ id }) => id)).toEqual(["web"]);
    expect(warnings).toMatchObject([{ server: "local", refused: true }]);
  });

  test("knows nothing of the process that it happens to run in", () => {
    vi.stubEnv("HOST", "mcp.example.com");
    const { warnings } = portable({ mcpServers: { web: { url: "https://${HOST}/" } } });
    expect(warnings).toMatchObject([{ message: '"web" is left out: it needs the variable HOST.' }]);
  });
});

describe("a client's file", () => {
  test("in a project's hidden folder belongs to the project", async () => {
    const definition = { command: "x", envFile: "${workspaceFolder}/one.env" };
    expect(await loaded("project/.cursor/mcp.json", definition)).toEqual({ ids: ["a"], said: [] });
    const beside = { command: "x", envFile: "one.env" };
    expect(await loaded("project/.cursor/mcp.json", beside)).toEqual({ ids: ["a"], said: [] });
  });

  test("elsewhere belongs to the working directory", async () => {
    const definition = { command: "x", envFile: "${workspaceFolder}/one.env" };
    expect(await loaded("project/mcp.json", definition)).toEqual({
      ids: [],
      said: ['"a" is left out: it has an envFile that cannot be read (ENOENT).'],
    });
    const name = basename(process.cwd());
    const named = { command: "x", envFile: `../${name}/package.json` };
    expect((await loaded("project/mcp.json", named)).ids).toEqual(["a"]);
  });

  test("that cannot be read or used is a failure that names it", async () => {
    const file = join(folder, "none.json");
    expect(failureOf(await loadMcpConfig(file, [])).message).toBe(
      `${file} cannot be read (ENOENT).`,
    );
    const broken = join(folder, "broken.json");
    writeFileSync(broken, `{"token": "s3cret" oops}`);
    const { code, message } = failureOf(await loadMcpConfig(broken, []));
    expect(code).toBe("invalid_args");
    expect(message).toBe(`${broken} cannot be used. It is no JSON: see line 1, column 20.`);
  });
});
