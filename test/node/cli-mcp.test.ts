import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeServer, modern } from "../../verify/hostile/downstream/support/http.ts";
import { post } from "../../verify/support/messages.ts";
import { commandFolder, CONNECTA } from "../support/command.ts";

const SECRET = "s3cret-value";

/** A server of the older generation whose tools tell what its process was given. */
const SERVER = `
import { createInterface } from "node:readline";
import { basename } from "node:path";
const tool = (name, annotations) => ({ name, description: "A tool.", inputSchema: { type: "object" }, annotations });
const answers = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } },
  "tools/list": { tools: [
    tool("cwd_" + basename(process.cwd())), tool("arg_" + process.argv[2]),
    tool("env_" + process.env.FROM_FILE + "_" + process.env.OWN + "_" + process.env.NOT_NAMED),
    tool("send_mail", { readOnlyHint: true }), tool("look"), tool("drop"),
  ] },
  "tools/call": { content: [{ type: "text", text: "called" }] },
};
process.stderr.write("a word on stderr\\n");
if (process.argv[2] === "die") process.exit(1);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method];
  const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
}
`;

const local = { command: process.execPath, args: ["${workspaceFolder}/server.mjs", "a"] };
const EDITOR = {
  ...local,
  envFile: "${workspaceFolder}/.env",
  env: { OWN: "${env:OWN}" },
  cwd: "inner",
  readOnly: ["look"],
  hide: ["drop", "nothing"],
  colour: 1,
};
const { folder, write, ...command } = commandFolder({
  "server.mjs": SERVER,
  ".env": "FROM_FILE=file\nOWN=overwritten\n",
  ".vscode/mcp.json": `{ // as an editor keeps it
      "servers": { "local one": ${JSON.stringify(EDITOR)}, } }`,
  "bad.json": JSON.stringify({ mcpServers: { web: { url: "https://x/?key=${NONE}" } } }),
  "mixed.json": JSON.stringify({
    mcpServers: {
      crm: local,
      web: { url: "${OWN}", headers: { A: "${NONE}" } },
      dead: { ...local, args: ["${workspaceFolder}/server.mjs", "die"] },
    },
  }),
  "broken.json": "{ mcpServers: 1 }",
  "deployment.mjs": `import { api } from "${CONNECTA}";
    export default { connectors: [api({ id: "crm", tools: { get: {
      description: "Get.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true }, handler: () => 7 } } })] };`,
});
for (const name of ["inner", "bare"]) mkdirSync(join(folder, name));

/** One variable is a secret and one is nobody's. */
const env = { OWN: SECRET, NOT_NAMED: "not handed on" };
const start = (args: readonly string[], cwd = folder) => command.start(args, { cwd, env });
const run = (...args: string[]) => command.run(args, { env });

const callTool = async (url: string, address: string) => {
  const params = { name: "call_destructive_tool", arguments: { address } };
  return (await post(url, "tools/call", params)).text;
};

describe("connecta tools", () => {
  test("lists the servers of an editor's file, started as the file says", async () => {
    const { code, stdout, stderr } = await run("tools", "--mcp-config", ".vscode/mcp.json");
    expect(stderr).toContain('"local one" is called local-one here.');
    expect(stderr).toContain('"local one" has "colour", which is not known here.');
    expect(stdout).toContain("local-one: 6 tools, 2 read-only, 3 needs approval, 1 hidden\n");
    expect(stdout).toMatch(/^ {2}! {2}send_mail +read-only +annotation +counts as reading/m);
    expect(stdout).toMatch(/^ +look +read-only +config$/m);
    expect(stdout).toMatch(/^ +drop +hidden +config$/m);
    expect(stdout).toContain("cwd_inner");
    expect(stdout).toContain(`env_file_${SECRET}_undefined`);
    expect(code).toBe(0);
  });

  test("--json says the same to programs", async () => {
    const { code, stdout } = await run(
      "tools",
      "local-one",
      "--mcp-config",
      ".vscode/mcp.json",
      "--json",
    );
    const [connector] = JSON.parse(stdout) as { tools: { name: string }[] }[];
    expect(connector).toMatchObject({ connector: "local-one", ok: true });
    expect(connector?.tools[0]).toEqual({
      name: "send_mail",
      class: "read-only",
      why: "annotation",
      note: 'counts as reading, its name says "send"',
      suspicious: true,
    });
    expect(code).toBe(0);
  });

  test("lists a config file beside other files, and ends with 1 when a server is missing", async () => {
    const { code, stdout, stderr } = await run(
      "tools",
      "--config",
      "deployment.mjs",
      "--mcp-config",
      "mixed.json",
      "--mcp-config",
      ".vscode/mcp.json",
    );
    expect(stderr).toContain('mixed.json: "crm" is called crm-2 here.');
    expect(stderr).toContain('mixed.json: "web" is left out: it needs the variable NONE.');
    expect(stdout.match(/^[\w-]+: /gm)).toEqual(["dead: ", "crm-2: ", "local-one: ", "crm: "]);
    expect(stdout).toContain("dead: not loaded (");
    expect(stdout).toContain("  | a word on stderr\n");
    expect(code).toBe(1);
  });

  test("of one connector ends with 0 when that one is there", async () => {
    const args = ["--config", "deployment.mjs", "--mcp-config", "mixed.json"];
    expect((await run("tools", "crm", ...args)).code).toBe(0);
    expect((await run("tools", "dead", ...args)).code).toBe(1);
  });

  test.each([
    [["0.0.0.0"], 0, "web: 1 tool"],
    [[], 1, "web may not ask 0.0.0.0, which is or leads to"],
  ])(
    "asks an address of this machine by another name where the config allows %j",
    async (...of) => {
      const [allow, code, line] = of;
      const server = await fakeServer(modern());
      const url = server.url.replace("127.0.0.1", "0.0.0.0");
      write(
        "outbound.mjs",
        `import { remoteMcp } from "${CONNECTA}";
      export default { outbound: { allow: ${JSON.stringify(allow)} },
        connectors: [remoteMcp({ id: "web", url: "${url}" })] };`,
      );
      const ran = await run("tools", "--config", "outbound.mjs");
      await server.close();
      expect(ran.stdout).toContain(line);
      expect([ran.code, server.asked.length > 0]).toEqual([code, code === 0]);
    },
  );

  test.each([
    [
      "an unknown connector",
      ["tools", "crn", "--config", "deployment.mjs"],
      "no connector crn; there are: crm.",
    ],
    [
      "a file that is not there",
      ["tools", "--mcp-config", "none.json"],
      "none.json cannot be read (ENOENT).",
    ],
    ["a file that is no JSON", ["tools", "--mcp-config", "broken.json"], "see line 1, column 3."],
    ["an option of another command", ["tools", "--port", "1"], "connecta tools takes no --port"],
    ["an option of this command", ["serve", "--json"], "connecta serve takes no --json"],
    ["too many words", ["tools", "a", "b"], "Expected 1 argument but got 2."],
  ])("%s is one line and exit code 1", async (_, args, line) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(line);
  });

  test("E4: no output holds the value of a variable that a message could have quoted", async () => {
    const { stdout, stderr } = await run("tools", "--mcp-config", "mixed.json");
    expect(stderr).toContain('"web" is left out');
    expect(stdout + stderr).not.toContain(SECRET);
  });
});

describe("connecta serve --mcp-config", () => {
  test("serves the servers of a file without any config file, and ends them with itself", async () => {
    const args = ["serve", "--mcp-config", join("..", ".vscode", "mcp.json"), "--port", "0"];
    const started = start(args, join(folder, "bare"));
    const url = await started.listening();
    expect(await callTool(url, "local-one.arg_a")).toContain("called");
    expect(await callTool(url, "local-one.drop")).toContain("unknown_tool");
    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(0);
    expect(started.stdout()).toBe(`listening ${url}\n`);
    expect(started.stderr().trimEnd().split("\n")).toEqual([
      'connecta: ../.vscode/mcp.json: "local one" has "colour", which is not known here.',
      'connecta: ../.vscode/mcp.json: "local one" is called local-one here.',
      'connecta: hide of local-one names "nothing", which is no tool of it.',
    ]);
  });

  test("serves them beside a config file", async () => {
    const started = start([
      "serve",
      "--config",
      "deployment.mjs",
      "--mcp-config",
      "mixed.json",
      "--port",
      "0",
    ]);
    const url = await started.listening();
    expect(await callTool(url, "crm.get")).toContain("7");
    expect(await callTool(url, "crm-2.arg_a")).toContain("called");
    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(0);
  });

  test("without a usable server and without a config file it does not start", async () => {
    const { code, stdout, stderr } = await run("serve", "--mcp-config", "bad.json", "--port", "0");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('"web" is left out: it needs the variable NONE.');
    expect(stderr).toContain("connecta: no server of bad.json can be used.");
  });
});
