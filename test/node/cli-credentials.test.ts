import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { askHidden } from "../../server/node/hidden-input.ts";

vi.setConfig({ testTimeout: 60_000 });

const BIN = fileURLToPath(new URL("../../scripts/connecta.mjs", import.meta.url));
const dist = (name: string) => new URL(`../../dist/server/${name}.js`, import.meta.url).href;
const SECRET = "sk-correct-horse-battery-staple";
const [KEY, OTHER_KEY] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64"));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "connecta-credentials-"));
  const config = `
    import { api, remoteMcp } from "${dist("index")}";
    import { sqliteStorage } from "${dist("node")}";
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
    };`;
  writeFileSync(join(folder, "connecta.config.mjs"), config);
  writeFileSync(join(folder, "none.mjs"), "export default { connectors: [] };");
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs one command with something piped into it. */
function run(words: string, piped = "", env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const child = spawn(process.execPath, [BIN, ...words.split(" ")], {
    cwd: folder,
    env: { PATH: process.env.PATH, CONNECTA_VAULT_KEY: KEY, ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (out += String(data)));
  child.stderr.on("data", (data: Buffer) => (err += String(data)));
  child.stdin.on("error", () => undefined);
  child.stdin.end(piped);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** Starts the server, and calls one tool of it as often as wanted. */
async function serving() {
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0"], {
    cwd: folder,
    env: { PATH: process.env.PATH, CONNECTA_VAULT_KEY: KEY },
  });
  const url = await new Promise<string>((resolve) => {
    child.stdout.on("data", (data: Buffer) => {
      resolve(/^listening (\S+)$/m.exec(String(data))?.[1] ?? "");
    });
  });
  const call = async () => {
    const params = { name: "call_tool", arguments: { address: "crm.whoami" } };
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    return response.text();
  };
  const stop = () =>
    new Promise((resolve) => {
      child.on("close", resolve);
      child.kill("SIGTERM");
    });
  return { call, stop };
}

describe("connecta credentials", () => {
  test("a value that is piped is used by the next call of a server that runs", async () => {
    const { call, stop } = await serving();
    expect(await call()).toContain("auth_required");
    expect(await run("credentials set crm", `${SECRET}\n`)).toEqual({
      code: 0,
      out: "crm: token set.\n",
      err: "",
    });
    expect(await call()).toContain(`"data":${SECRET.length}`);
    expect((await run("credentials list")).out).toBe(
      "crm:\n  token  set …aple  API token\n" +
        "two:\n  user  missing  User\n  token  missing  Token\n" +
        "web: missing\n",
    );
    expect((await run("credentials test crm")).out).toBe(
      "crm has its credential, and no way to try it.\n",
    );
    expect((await run("credentials remove crm")).out).toBe("crm: removed.\n");
    expect(await call()).toContain("auth_required");
    await stop();
    for (const file of ["connecta.db", "connecta.db-wal"]) {
      expect(readIfThere(file)).not.toContain(SECRET);
    }
  });

  test("of several values each is piped by name", async () => {
    expect((await run("credentials set two", "x")).err).toBe(
      "connecta: name the field that is piped, one of: user, token.\n",
    );
    expect((await run("credentials set two user", "ada")).out).toBe("two: user set.\n");
    expect((await run("credentials list two")).out).toContain("user  set  User\n  token  missing");
  });

  test("another key is said, and the former one beside it seals everything anew", async () => {
    await run("credentials set crm", SECRET);
    const other = { CONNECTA_VAULT_KEY: OTHER_KEY };
    const lost = await run("credentials test crm", "", other);
    expect([lost.code, lost.out]).toEqual([1, ""]);
    expect(lost.err).toContain("vault.key (CONNECTA_VAULT_KEY)");
    const both = { ...other, CONNECTA_VAULT_PREVIOUS_KEYS: KEY };
    expect((await run("credentials rotate", "", both)).out).toMatch(
      /^\d sealed anew, 0 current, 0/,
    );
    expect((await run("credentials test crm", "", other)).code).toBe(0);
    await run("credentials rotate", "", { CONNECTA_VAULT_PREVIOUS_KEYS: OTHER_KEY });
  });

  test("key prints a key that can be used, another one each time", async () => {
    const [one, two] = [await run("credentials key"), await run("credentials key")];
    expect(Buffer.from(one.out.trim(), "base64")).toHaveLength(32);
    expect(one.out).not.toBe(two.out);
    const env = { CONNECTA_VAULT_KEY: one.out.trim() };
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
    const { code, out, err } = await run(words);
    expect([code, out, err.trimEnd().split("\n").length]).toEqual([1, "", 1]);
    expect(err).toContain(message);
  });

  test("tools are listed with the credential", async () => {
    await run("credentials set crm", SECRET);
    expect((await run("tools crm")).out).toContain("crm: 1 tool, 1 read-only");
  });

  test("a missing key stops the start, and the message says how to get one", async () => {
    const { code, err } = await run("serve", "", { CONNECTA_VAULT_KEY: "" });
    expect(code).toBe(1);
    expect(err).toContain("set CONNECTA_VAULT_KEY to what `connecta credentials key` prints");
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
    return readFileSync(join(folder, name), "latin1");
  } catch {
    return "";
  }
}
