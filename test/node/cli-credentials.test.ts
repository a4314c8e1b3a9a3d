import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { askHidden } from "../../server/node/hidden-input.ts";
import { post } from "../../verify/support/messages.ts";
import { commandFolder, CONNECTA, CONNECTA_NODE } from "../support/command.ts";

vi.setConfig({ testTimeout: 60_000 });

const SECRET = "sk-correct-horse-battery-staple";
const [KEY = "", OTHER_KEY = ""] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));

const command = commandFolder({
  "connecta.config.mjs": `
    import { api, remoteMcp } from "${CONNECTA}";
    import { sqliteStorage } from "${CONNECTA_NODE}";
    const whoami = { description: "Who.", inputSchema: { type: "object" },
      annotations: { readOnlyHint: true }, handler: (_, { credential }) => credential.token.length };
    export default {
      storage: sqliteStorage({ file: "connecta.db" }),
      connectors: [
        api({ id: "crm", credential: { fields: { token: "API token" } }, tools: { whoami } }),
        api({ id: "two", credential: { fields: { user: "User", token: "Token" } }, tools: {} }),
        remoteMcp({ id: "web", url: "https://mcp.example/mcp", auth: "oauth" }),
        api({ id: "free", tools: {} }),
      ],
    };`,
  "kept.mjs": `
    import { fileActivity } from "${CONNECTA_NODE}";
    import config from "./connecta.config.mjs";
    export default { ...config, auth: { tokens: true }, activity: fileActivity({ file: "a.jsonl" }) };`,
  "none.mjs": "export default { connectors: [] };",
});

/** Runs one command with something piped into it. */
const run = (words: string, stdin = "", env: Readonly<Record<string, string>> = {}) =>
  command.run(words.split(" "), { stdin, env: { CONNECTA_VAULT_KEY: KEY, ...env } });

/** Starts the server, and calls one tool of it as often as wanted. */
async function serving() {
  const server = command.start(["serve", "--port", "0"], { env: { CONNECTA_VAULT_KEY: KEY } });
  const url = await server.listening();
  const call = async () => {
    const params = { name: "call_tool", arguments: { address: "crm.whoami" } };
    return (await post(url, "tools/call", params)).text;
  };
  const stop = () => {
    server.child.kill("SIGTERM");
    return server.ended;
  };
  return { call, stop };
}

describe("connecta credentials", () => {
  test("a value that is piped is used by the next call of a server that runs", async () => {
    const { call, stop } = await serving();
    expect(await call()).toContain("auth_required");
    expect(await run("credentials set crm", `${SECRET}\n`)).toEqual({
      code: 0,
      stdout: "crm: token set.\n",
      stderr: "",
    });
    expect(await call()).toContain(`"data":${SECRET.length}`);
    expect((await run("credentials list")).stdout).toBe(
      "crm:\n  token  set …aple  API token\n" +
        "two:\n  user  missing  User\n  token  missing  Token\n" +
        "web: missing\n",
    );
    expect((await run("credentials test crm")).stdout).toBe(
      "crm has its credential, and no way to try it.\n",
    );
    expect((await run("credentials remove crm")).stdout).toBe("crm: removed.\n");
    expect(await call()).toContain("auth_required");
    await stop();
    for (const file of ["connecta.db", "connecta.db-wal"]) {
      expect(readIfThere(file)).not.toContain(SECRET);
    }
  });

  test("of several values each is piped by name", async () => {
    expect((await run("credentials set two", "x")).stderr).toBe(
      "connecta: name the field that is piped, one of: user, token.\n",
    );
    expect((await run("credentials set two user", "ada")).stdout).toBe("two: user set.\n");
    expect((await run("credentials list two")).stdout).toContain(
      "user  set  User\n  token  missing",
    );
  });

  test("another key is said, and the former one beside it seals everything anew", async () => {
    await run("credentials set crm", SECRET);
    const other = { CONNECTA_VAULT_KEY: OTHER_KEY };
    const lost = await run("credentials test crm", "", other);
    expect([lost.code, lost.stdout]).toEqual([1, ""]);
    expect(lost.stderr).toContain("vault.key (CONNECTA_VAULT_KEY)");
    const both = { ...other, CONNECTA_VAULT_PREVIOUS_KEYS: KEY };
    expect((await run("credentials rotate", "", both)).stdout).toMatch(
      /^\d sealed anew, 0 current, 0/,
    );
    expect((await run("credentials test crm", "", other)).code).toBe(0);
    await run("credentials rotate", "", { CONNECTA_VAULT_PREVIOUS_KEYS: OTHER_KEY });
  });

  test("key prints a key that can be used, another one each time", async () => {
    const [one, two] = [await run("credentials key"), await run("credentials key")];
    expect(Buffer.from(one.stdout.trim(), "base64")).toHaveLength(32);
    expect(one.stdout).not.toBe(two.stdout);
    const env = { CONNECTA_VAULT_KEY: one.stdout.trim() };
    expect((await run("credentials list free", "", env)).code).toBe(0);
  });

  test.each([
    ["credentials", "connecta credentials can: list, set, test, remove, rotate, key"],
    ["credentials get crm", "connecta credentials can: list, set, test, remove, rotate, key"],
    ["credentials set", "connecta credentials set: missing required argument 'connector'"],
    ["credentials test crm token", "Expected 1 argument but got 2."],
    ["credentials set nobody", "There is no connector nobody; there are: crm, two, web, free."],
    ["credentials set crm password", "has no field password; it has: token."],
    ["credentials set web", "web is authorized in a browser"],
    ["credentials set crm", "token is empty."],
    ["credentials list --config none.mjs", "no connector of this deployment needs a credential."],
    ["credentials list --port 1", "connecta credentials list takes no --port"],
  ])("%s is a mistake of one line: %s", async (words, message) => {
    const { code, stdout, stderr } = await run(words);
    expect([code, stdout, stderr.trimEnd().split("\n").length]).toEqual([1, "", 1]);
    expect(stderr).toContain(message);
  });

  test("tools are listed with the credential", async () => {
    await run("credentials set crm", SECRET);
    expect((await run("tools crm")).stdout).toContain("crm: 1 tool, 1 read-only");
  });

  test("tokens and activity take the key of the environment as well", async () => {
    expect(await run("tokens list --config kept.mjs")).toEqual({
      code: 0,
      stdout: "No token was made.\n",
      stderr: "",
    });
    expect(await run("activity --config kept.mjs")).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("a missing key stops the start, and the message says how to get one", async () => {
    const { code, stderr } = await run("serve", "", { CONNECTA_VAULT_KEY: "" });
    expect(code).toBe(1);
    expect(stderr).toContain("set CONNECTA_VAULT_KEY to what `connecta credentials key` prints");
  });
});

describe("a value that is typed", () => {
  function terminal() {
    const written: string[] = [];
    const modes: boolean[] = [];
    const input = Object.assign(new EventEmitter(), {
      setRawMode: (mode: boolean) => modes.push(mode),
      resume: () => input,
      pause: () => input,
      setEncoding: () => input,
    });
    const output = { write: (text: string) => written.push(text) > 0 };
    return { written, modes, input, terminal: { input: input as never, output } };
  }

  test.each([
    ["is taken key by key", ["s", "k", "-", "1", "\r"], "sk-1"],
    ["is taken when it is pasted", ["sk-1\n"], "sk-1"],
    ["can be mended", ["sx", "\u007f", "k-1", "\r"], "sk-1"],
    ["can be begun anew", ["wrong", "\u0015", "sk-1", "\r"], "sk-1"],
    ["may hold any character", ["naïve 🦊", "\u007f", "\r"], "naïve "],
    ["is nothing after Ctrl-C", ["sk-1", "\u0003"], undefined],
    ["is nothing after Ctrl-D", ["\u0004"], undefined],
  ])("%s, and is never shown", async (_, keys, expected) => {
    const { written, modes, input, terminal: there } = terminal();
    const asked = askHidden("API token", there);
    for (const key of keys) input.emit("data", key);
    expect(await asked).toBe(expected);
    expect(written).toEqual(["API token: ", "\n"]);
    expect(modes).toEqual([true, false]);
    expect(input.listenerCount("data")).toBe(0);
  });
});

function readIfThere(name: string): string {
  try {
    return readFileSync(join(command.folder, name), "latin1");
  } catch {
    return "";
  }
}
