import { describe, expect, test } from "vitest";
import {
  importMcpServers,
  type ImportOptions,
  type Makers,
} from "../../../server/connectors/import/from-mcp-servers.ts";
import type { ReadEnvFile } from "../../../server/connectors/import/definition.ts";
import { failureOf, fakeConnector, valueOf } from "../../support/catalog.ts";

/** Imports with makers that only remember what they were given. */
function imported(
  file: unknown,
  options: ImportOptions = {},
  more: Partial<Makers> & { readEnvFile?: ReadEnvFile } = {},
) {
  const made: Record<string, unknown>[] = [];
  const maker = (kind: string) => (server: object) => {
    made.push({ kind, ...server });
    return fakeConnector((server as { id: string }).id, []);
  };
  const makers = { remoteMcp: maker("remote"), stdioMcp: maker("stdio"), ...more };
  const { connectors, warnings } = valueOf(importMcpServers(file, makers, options));
  return {
    made,
    ids: connectors.map(({ id }) => id),
    said: warnings.map(({ message }) => message),
    refused: warnings.filter(({ refused }) => refused).map(({ server }) => server),
  };
}

/** One server under any name. */
const one = (definition: unknown, options?: ImportOptions, more?: Parameters<typeof imported>[2]) =>
  imported({ mcpServers: { a: definition } }, options, more);

describe("the file of a client", () => {
  test("of Claude Desktop: a command with arguments and an environment", () => {
    const { made, said } = imported({
      mcpServers: {
        files: { command: "npx", args: ["-y", "pkg"], env: { KEY: "k", N: 1, OFF: null } },
      },
      globalShortcut: "",
    });
    expect(made).toEqual([
      {
        kind: "stdio",
        id: "files",
        command: "npx",
        args: ["-y", "pkg"],
        env: { KEY: "k", N: "1" },
      },
    ]);
    expect(said).toEqual([]);
  });

  test("of Cursor: an address with headers, without a type", () => {
    const { made, said } = one({ url: "https://mcp.example.com/mcp", headers: { "X-Key": "1" } });
    expect(made).toEqual([
      { kind: "remote", id: "a", url: "https://mcp.example.com/mcp", headers: { "X-Key": "1" } },
    ]);
    expect(said).toEqual([]);
  });

  test("of VS Code: servers and inputs, with comments", () => {
    const file = `{
      // asked for once
      "inputs": [{ "type": "promptString", "id": "gh-key", "password": true },
                 { "id": "region", "default": "eu" }],
      "servers": {
        "github": { "type": "http", "url": "https://\${input:region}.example.com/",
                    "headers": { "Authorization": "Bearer \${input:gh-key}" } },
      },
    }`;
    const { made } = imported(file, { inputs: { "gh-key": "k1" } });
    expect(made).toMatchObject([
      { url: "https://eu.example.com/", headers: { Authorization: "Bearer k1" } },
    ]);
    const answered = imported(file, {
      env: { CONNECTA_INPUT_GH_KEY: "k2", CONNECTA_INPUT_REGION: "us" },
    });
    expect(answered.made).toMatchObject([
      { url: "https://us.example.com/", headers: { Authorization: "Bearer k2" } },
    ]);
    const unanswered = imported(file);
    expect(unanswered.refused).toEqual(["github"]);
    expect(unanswered.said).toEqual([
      '"github" is left out: it needs the input gh-key (set CONNECTA_INPUT_GH_KEY).',
    ]);
  });

  test("of VS Code's settings: the same below mcp", () => {
    const file = { "editor.fontSize": 12, mcp: { servers: { a: { command: "x" } }, inputs: [] } };
    expect(imported(file).ids).toEqual(["a"]);
  });

  test("of Windsurf: serverUrl, and tools that it does not offer", () => {
    const { made, said } = one({ serverUrl: "https://a.example/mcp", disabledTools: ["drop"] });
    expect(made).toMatchObject([{ kind: "remote", url: "https://a.example/mcp", hide: ["drop"] }]);
    expect(said).toEqual([]);
  });

  test("of Cline: its type, and tools that it allows without asking, which widens nothing here", () => {
    const { made, said } = one({
      type: "streamableHttp",
      url: "https://a.example/mcp",
      disabled: false,
      alwaysAllow: ["send"],
      autoApprove: [],
      trust: true,
    });
    expect(made).toEqual([{ kind: "remote", id: "a", url: "https://a.example/mcp", headers: {} }]);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain('"a" has alwaysAllow, which is not followed');
    expect(said[1]).toContain('"a" has trust, which is not followed');
  });

  test("of Zed: context_servers, the command in an object or beside its arguments", () => {
    const { made, said } = imported({
      theme: "One Dark",
      context_servers: {
        old: { source: "custom", command: { path: "x", args: ["1"], env: { A: "1" } } },
        now: { command: "x", args: ["2"], enabled: true },
        shop: { source: "extension", settings: {} },
      },
    });
    expect(made).toMatchObject([
      { id: "old", command: "x", args: ["1"], env: { A: "1" } },
      { id: "now", command: "x", args: ["2"] },
    ]);
    expect(said).toEqual(['"shop" is left out: it has neither a command nor a url.']);
  });

  test("that is a fragment of one", () => {
    expect(imported({ a: { command: "x" }, b: { url: "https://a.example" } }).ids).toEqual([
      "a",
      "b",
    ]);
  });

  test("whose command is a list", () => {
    const { made } = one({ type: "local", command: ["npx", "-y", "pkg"] });
    expect(made).toMatchObject([{ command: "npx", args: ["-y", "pkg"] }]);
  });

  test.each([[{}], [{ a: 1 }], [[]], [null], ["{ broken"], [{ projects: { a: {} } }]])(
    "%j is none, in one sentence",
    (file) => {
      const { remoteMcp } = { remoteMcp: () => fakeConnector("a", []) };
      expect(failureOf(importMcpServers(file, { remoteMcp })).message).toMatch(/^It .*\.$/);
    },
  );
});

describe("a server of a file", () => {
  test.each([
    ["is disabled", { command: "x", disabled: true }, "it is disabled", false],
    ["is not enabled", { command: "x", enabled: false }, "it is disabled", false],
    ["is no object", 7, "it is no object", true],
    ["says nothing", {}, "it has neither a command nor a url", true],
    ["has an empty command", { command: "" }, "neither a command nor a url", true],
    ["says two things", { command: "x", url: "https://a" }, "a command and a url", true],
    ["lacks its url", { type: "http", command: "x" }, "has type http and no url", true],
    ["lacks its command", { type: "stdio", url: "https://a" }, "type stdio and no command", true],
    ["has a type of its own", { type: "ws", url: "wss://a" }, "a type that is not spoken", true],
    ["has no http address", { url: "file:///etc/hosts" }, "a url that is no http address", true],
    ["has arguments that are none", { command: "x", args: "-y" }, "args that are no list", true],
    ["has arguments of objects", { command: "x", args: [{}] }, "args that are no list", true],
    ["has an environment that is none", { command: "x", env: ["A=1"] }, "an env that is no", true],
    [
      "has headers that are none",
      { url: "https://a", headers: "X: 1" },
      "headers that are no",
      true,
    ],
    ["hides by a number", { command: "x", hide: [1] }, "hide is no list of tool names", true],
  ])("that %s is left out with a word, alone", (_, definition, why, wanted) => {
    const { ids, said, refused } = imported({
      mcpServers: { bad: definition, good: { command: "x" } },
    });
    expect(ids).toEqual(["good"]);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('"bad" is left out: ');
    expect(said[0]).toContain(why);
    expect(refused).toEqual(wanted ? ["bad"] : []);
  });

  test("that its maker refuses is left out in the maker's words, without values", () => {
    const remoteMcp = ({ url }: { url: string }) => {
      throw new TypeError(`remoteMcp(a).url ${url} is odd.`);
    };
    const { ids, said, refused } = one(
      { url: "https://a.example/?key=${KEY}" },
      { env: { KEY: "s3cret" } },
      { remoteMcp },
    );
    expect(ids).toEqual([]);
    expect(said).toEqual(['"a" is left out: remoteMcp(a).url https://a.example/?key=… is odd.']);
    expect(refused).toEqual(["a"]);
  });

  test("that has a command is left out where nothing can be started", () => {
    const makers = { remoteMcp: () => fakeConnector("a", []) };
    const { warnings } = valueOf(importMcpServers({ servers: { a: { command: "x" } } }, makers));
    expect(warnings).toEqual([
      {
        server: "a",
        refused: true,
        message: '"a" is left out: it has a command, and none can be started here.',
      },
    ]);
  });

  test("has no headers that the protocol sets, and each is named", () => {
    const headers = { Accept: "application/json", "MCP-Protocol-Version": "x", "X-Key": "1" };
    const { made, said, refused } = one({ url: "https://a.example", headers });
    expect(made).toMatchObject([{ headers: { "X-Key": "1" } }]);
    expect(Object.keys((made[0] as { headers: object }).headers)).toEqual(["X-Key"]);
    expect(said).toEqual([
      '"a" has the header Accept, which the protocol sets.',
      '"a" has the header MCP-Protocol-Version, which the protocol sets.',
    ]);
    expect(refused).toEqual([]);
  });

  test("that speaks the older transport is tried, with a word", () => {
    const { made, said } = one({ type: "sse", url: "https://a.example/sse" });
    expect(made).toMatchObject([{ kind: "remote" }]);
    expect(said).toEqual([
      '"a" has type sse, which is no longer spoken: its url is tried as streamable HTTP.',
    ]);
  });

  test.each([
    [{ command: "x", colour: 1 }, '"a" has "colour", which is not known here.'],
    [{ command: "x", timeout: 60 }, '"a" has "timeout", which is not known here.'],
    [{ command: "x", headers: {} }, '"a" has headers, which means nothing beside a command.'],
    [{ url: "https://a.example", env: {} }, '"a" has env, which means nothing beside a url.'],
    [
      { command: "x", includeTools: ["b"] },
      '"a" has includeTools, which is not followed: all its tools are there, but those in hide.',
    ],
  ])(
    "with a field that has no effect, %j, is there, and the field is named",
    (definition, message) => {
      const { ids, said, refused } = one(definition);
      expect([ids, said, refused]).toEqual([["a"], [message], []]);
    },
  );

  test("may say what connecta alone understands", () => {
    const own = {
      title: "T",
      description: "D",
      usageGuide: "G",
      timeoutMs: 5,
      readOnly: ["r"],
      approval: ["p"],
    };
    const times = { idleMs: 9, startTimeoutMs: 7 };
    const process = one({ command: "x", ...times, ...own });
    expect(process.made).toMatchObject([{ ...times, ...own }]);
    expect(process.said).toEqual([]);
    expect(one({ url: "https://a.example", protocol: "legacy", ...own }).made).toMatchObject([
      { protocol: "legacy", ...own },
    ]);
  });

  test("is classified by the deployment too, and neither loses what the other says", () => {
    const { made, said } = one(
      { command: "x", hide: ["h1"], disabledTools: ["h2"] },
      { policy: { a: { hide: ["h3"], readOnly: ["r"] }, b: {} } },
    );
    expect(made).toMatchObject([{ hide: ["h1", "h2", "h3"], readOnly: ["r"] }]);
    expect(said).toEqual(['policy names "b", which is no server of the file.']);
  });

  test("is left out when file and deployment say opposite things of a tool", () => {
    const { said } = one({ command: "x", readOnly: ["t"] }, { policy: { a: { approval: ["t"] } } });
    expect(said).toEqual(['"a" is left out: readOnly and approval both name "t".']);
  });

  test("whose name is no id gets one, keeps its name as title, and that is said", () => {
    const { made, said } = imported({ mcpServers: { "GitHub (work)": { command: "x" } } });
    expect(made).toMatchObject([{ id: "GitHub-work", title: "GitHub (work)" }]);
    expect(said).toEqual(['"GitHub (work)" is called GitHub-work here.']);
  });

  test("whose id a deployment uses already gets another, and that is said", () => {
    const { ids, said } = one({ command: "x" }, { taken: ["a"] });
    expect([ids, said]).toEqual([["a-2"], ['"a" is called a-2 here.']]);
  });
});

describe("a reference in a file", () => {
  const env = { KEY: "k", EMPTY: "", "odd name": "o" };
  const argument = (text: string, options: ImportOptions = {}) =>
    one({ command: "x", args: [text] }, { env, ...options });

  test.each([
    ["${KEY}", "k"],
    ["${env:KEY}", "k"],
    ["a-${KEY}-${env:KEY}-b", "a-k-k-b"],
    ["${ KEY }", "k"],
    ["${EMPTY}", ""],
    ["${NONE:-fallback}", "fallback"],
    ["${env:NONE:-}", ""],
    ["${EMPTY:-x:-y}", "x:-y"],
    ["${KEY:-x}", "k"],
    ["$KEY", "$KEY"],
    ["${workspaceFolder}/a", "/w/app/a"],
    ["${workspaceFolderBasename}", "app"],
    ["${userHome}${/}b", "/h/b"],
    ["${pathSeparator}", "/"],
  ])("%s stands for %j", (text, value) => {
    const { made } = argument(text, { workspaceFolder: "/w/app", userHome: "/h" });
    expect(made).toMatchObject([{ args: [value] }]);
  });

  test.each([
    ["${NONE}", "the variable NONE"],
    ["${env:NONE}", "the variable NONE"],
    ["${toString}", "the variable toString"],
    ["${input:none}", "the input none (set CONNECTA_INPUT_NONE)"],
    ["${userHome}", "the variable userHome"],
    ["${command:pick}", "${command:pick}, which means nothing here"],
    ["${odd name}", "${odd name}, which means nothing here"],
    ["${}", "${}, which means nothing here"],
  ])("%s that stands for nothing refuses the server and is named", (text, missing) => {
    const { ids, said, refused } = argument(text);
    expect([ids, refused]).toEqual([[], ["a"]]);
    expect(said).toEqual([`"a" is left out: it needs ${missing}.`]);
  });

  test("is followed in every field that may hold one, and all that is missing is named at once", () => {
    const process = { command: "${A}", args: ["${B}"], env: { X: "${C}" }, cwd: "${D}" };
    const remote = { url: "https://${A}/", headers: { X: "${B}" } };
    const values = { A: "a", B: "b", C: "c", D: "d" };
    expect(one(process, { env: values }).made).toMatchObject([
      { command: "a", args: ["b"], env: { X: "c" }, cwd: "d" },
    ]);
    expect(one(remote, { env: values }).made).toMatchObject([
      { url: "https://a/", headers: { X: "b" } },
    ]);
    expect(one(process).said[0]).toContain(
      "it needs the variable C and the variable D and the variable B and the variable A",
    );
    expect(one(remote).said[0]).toContain("it needs the variable A and the variable B");
  });

  test("is not followed in what it stands for", () => {
    const { made } = argument("${DEEP}", { env: { DEEP: "${KEY}" } });
    expect(made).toMatchObject([{ args: ["${KEY}"] }]);
  });

  test("E4: its value is in no warning, whatever else is wrong", () => {
    const secret = "s3cret-value";
    for (const definition of [
      { url: "${SECRET}" },
      { url: "https://${SECRET}:99999/", headers: { A: "${SECRET}" } },
      { command: "x", cwd: "${SECRET}", env: { A: "${SECRET}", B: [] } },
      { type: "${SECRET}", url: "https://a" },
    ]) {
      const { said } = one(definition, { env: { SECRET: secret } });
      expect(said).not.toEqual([]);
      expect(said.join()).not.toContain(secret);
    }
  });
});

describe("an envFile", () => {
  const readEnvFile: ReadEnvFile = (path) =>
    path === "/w/.env" ? { A: "file", B: "file" } : "has an envFile that cannot be read (ENOENT)";
  const options = { workspaceFolder: "/w" };

  test("is read where its path leads, and what stands in env wins", () => {
    const definition = { command: "x", envFile: "${workspaceFolder}/.env", env: { B: "own" } };
    expect(one(definition, options, { readEnvFile }).made).toMatchObject([
      { env: { A: "file", B: "own" } },
    ]);
  });

  test.each([
    ["that cannot be read", "/none", "an envFile that cannot be read (ENOENT)"],
    ["that is no path", 7, "an envFile that is no path"],
  ])("%s refuses the server", (_, envFile, why) => {
    const { ids, said } = one({ command: "x", envFile }, options, { readEnvFile });
    expect([ids, said]).toEqual([[], [`"a" is left out: it has ${why}.`]]);
  });

  test("refuses the server where there are no files", () => {
    expect(one({ command: "x", envFile: ".env" }).said).toEqual([
      '"a" is left out: it has an envFile, which cannot be read here.',
    ]);
  });
});
