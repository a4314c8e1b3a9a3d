import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bearer, post } from "../../verify/support/messages.ts";
import { commandFolder, CONNECTA_NODE } from "../support/command.ts";

const TOKEN = /^connecta_([0-9a-f]{16})_[0-9a-f]{64}$/;

const STORE = `import { sqliteStorage } from "${CONNECTA_NODE}";
    setInterval(() => {}, 1_000);
    const storage = sqliteStorage({ file: "kept.db" });`;
const { folder, start, run } = commandFolder({
  "good.mjs": `${STORE} export default { connectors: [], storage, auth: { tokens: true } };`,
  "off.mjs": `${STORE} export default { connectors: [], storage };`,
  "none.mjs": "export default { connectors: [] };",
});

const tokens = (...args: string[]) => run(["tokens", ...args, "--config", "good.mjs"]);

const ping = async (url: string, token?: string) =>
  (await post(url, "tools/list", {}, { headers: bearer(token) })).status;

describe("connecta tokens", () => {
  test("a running server sees a token made and revoked at the next request", async () => {
    const server = start(["serve", "--config", "good.mjs", "--port", "0"]);
    const url = await server.listening();
    expect(await ping(url)).toBe(401);
    const made = await tokens("create", "my laptop", "--expires", "30d");
    expect(made.code).toBe(0);
    const token = made.stdout.trimEnd();
    const id = TOKEN.exec(token)?.[1] ?? "";
    expect(made.stderr).toMatch(
      new RegExp(`^connecta: token ${id} ends \\d{4}-.*keep it now\\.\n$`),
    );
    expect(await ping(url, token)).toBe(200);
    const revoked = await tokens("revoke", id);
    expect(revoked).toEqual({
      code: 0,
      stdout: "",
      stderr: `connecta: token ${id} is revoked.\n`,
    });
    expect(await ping(url, token)).toBe(401);
    server.child.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
  });

  test("the list says everything but the token, and no file of the store holds it", async () => {
    const made = await tokens("create", "robot", "--json");
    const { token, id } = JSON.parse(made.stdout) as { token: string; id: string };
    expect(token).toMatch(TOKEN);
    const text = await tokens("list");
    expect(text.stdout).toMatch(/^ID +CREATED +EXPIRES +LAST USED +NAME\n/);
    expect(text.stdout).toMatch(new RegExp(`^${id}  \\S+Z  never +never +robot$`, "m"));
    const json = await tokens("list", "--json");
    expect(JSON.parse(json.stdout)).toContainEqual({
      id,
      name: "robot",
      createdAt: expect.any(Number),
    });
    const secret = token.slice(-64);
    expect(text.stdout + json.stdout).not.toContain(secret);
    const files = readdirSync(folder).filter((name) => name.startsWith("kept.db"));
    expect(files.length).toBeGreaterThan(0);
    const bytes = files.map((name) => readFileSync(join(folder, name), "latin1")).join("");
    expect(bytes).toContain(id);
    expect(bytes).not.toContain(secret);
  });

  test.each<[string, string[], string]>([
    ["no such token", ["tokens", "revoke", "f".repeat(16)], "No token has this id."],
    ["no name", ["tokens", "create"], "connecta tokens create: missing required argument 'name'"],
    ["no action", ["tokens"], "connecta tokens can: create, list, revoke"],
    ["an unknown action", ["tokens", "show", "x"], "connecta tokens can: create, list, revoke"],
    ["a blank name", ["tokens", "create", " "], "A token's name has 1 to 128 bytes"],
    ["a time that is none", ["tokens", "create", "a", "--expires", "soon"], "such as 12h, 30d"],
    [
      "a time for a list",
      ["tokens", "list", "--expires", "1d"],
      "connecta tokens list takes no --expires",
    ],
    ["a time elsewhere", ["tools", "--expires", "1d"], "connecta tools takes no --expires"],
    ["no store", ["tokens", "list", "--config", "none.mjs"], "tokens need a store"],
    [
      "auth without tokens",
      ["tokens", "create", "a", "--config", "off.mjs"],
      "auth: { tokens: true }",
    ],
  ])("%s is one line and exit code 1", async (_, args, text) => {
    const config = args.includes("--config") ? [] : ["--config", "good.mjs"];
    const ran = await run([...args, ...config]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(ran.stderr).toContain(text);
  });
});
