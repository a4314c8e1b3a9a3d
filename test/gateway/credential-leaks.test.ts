import { execFileSync } from "node:child_process";
import type { LogEntry } from "../../server/shared/log.ts";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openDesk, type CredentialDesk } from "../../server/access/desk.ts";
import { newVaultKey, readVaultKeys } from "../../server/access/keys.ts";
import { keyOf, Vault, type Place } from "../../server/access/vault.ts";
import { stdioMcp } from "../../server/connectors/stdio/stdio.ts";
import { api, memoryStorage, remoteMcp, type Connector, type Storage } from "../../server/index.ts";
import { readConfig } from "../../server/config.ts";
import { listen, type Listening } from "../../server/node/listen.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { post } from "../../verify/support/messages.ts";
import {
  fakeServer,
  modern,
  type FakeServer,
} from "../../verify/hostile/downstream/support/http.ts";
import { MACHINE, startIssuer, visit, type Issuer } from "../support/authorization/issuer.ts";
import { startResource, type Resource } from "../support/authorization/resource.ts";
import { callTool, rpc } from "../support/gateway.ts";
import { fileURLToPath } from "node:url";
import { valueOf } from "../support/catalog.ts";

vi.setConfig({ testTimeout: 60_000 });

const STDIO = fileURLToPath(new URL("../support/downstream/server.mjs", import.meta.url));
const KEY = newVaultKey();
const keys = readVaultKeys({ key: KEY });

/** Long enough that none appears by chance. */
const secret = () => `sk${crypto.randomUUID().replaceAll("-", "")}`;

let issuer: Issuer;
let resource: Resource;
let gossip: FakeServer;
beforeAll(async () => {
  issuer = await startIssuer();
  resource = await startResource(issuer);
  gossip = await fakeServer(
    modern((asked, reply) => {
      // Errors in every form, each with what the request carried.
      const told = `You sent ${JSON.stringify(asked.headers)}.`;
      if (asked.params.name === "protocol") reply.error(-32_000, told);
      else if (asked.params.name === "tool") {
        reply.result({
          resultType: "complete",
          content: [{ type: "text", text: told }],
          isError: true,
        });
      } else if (asked.params.name === "http")
        reply.status(418, { "x-told": told.slice(0, 99) }, told);
      else if (asked.params.name === "refused") reply.status(401, {}, told);
      else if (asked.method !== "tools/list") return false;
      else {
        const tools = ["protocol", "tool", "http", "refused"].map(described);
        reply.result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" });
      }
      return true;
    }),
  );
});
afterAll(() => Promise.all([gossip, resource, issuer].map((each) => each.close())));

function described(name: string) {
  return {
    name,
    description: "Tells.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  };
}

const fields = { fields: { token: "Token" } };

function connectors(): Connector[] {
  const tool = (handler: (token: string) => unknown) => ({
    ...described("tool"),
    handler: (_: unknown, { credential }: { credential: Readonly<Record<string, string>> }) =>
      handler(`${credential.token}`),
  });
  return [
    remoteMcp({ id: "person", url: resource.url, auth: "oauth" }),
    remoteMcp({
      id: "machine",
      url: resource.url,
      auth: { grant: "client_credentials", ...MACHINE },
    }),
    remoteMcp({
      id: "gossip",
      url: gossip.url,
      credential: { ...fields, headers: ({ token }) => ({ Authorization: `Bearer ${token}` }) },
    }),
    stdioMcp({
      id: "local",
      command: process.execPath,
      args: [STDIO, '{"stderr":"hello\\n","listFails":"no"}'],
      credential: { ...fields, env: ({ token }) => ({ TOKEN: `${token}` }) },
    }),
    api({
      id: "own",
      credential: fields,
      tools: {
        refuse: tool((token) => {
          throw new RangeError(`token ${token}`);
        }),
        use: tool((token) => ({ chars: token.length })),
      },
    }),
  ];
}

interface Told {
  readonly answers: string[];
  readonly lines: string[];
}

/** Calls everything in every way, and keeps all that anybody is told. */
async function callEverything(server: Listening, told: Told): Promise<void> {
  const over = {
    fetch: (request: Request) =>
      fetch(new Request(request.url.replace(/^.*8787/, server.url), request)),
  };
  const say = async (name: string, args: Record<string, unknown>) => {
    told.answers.push(JSON.stringify(await callTool(over, name, args)));
  };
  const all = ["person.whoami", "machine.whoami", "own.refuse", "own.use", "local.echo"];
  const addresses = [
    ...all,
    ...["protocol", "tool", "http", "refused"].map((one) => `gossip.${one}`),
  ];
  for (const address of addresses) {
    await say("call_tool", { address });
    await say("call_destructive_tool", { address });
    await say("execute_code", { code: `return connecta.call("${address}")` });
    await say("execute_code", {
      code: `await connecta.ui("<p>", { reads: { a: { address: "${address}" } } }); return connecta.batch([{ address: "${address}" }])`,
    });
  }
  await say("search_tools", {});
  await say("skills", {});
  for (const connector of ["person", "machine", "gossip", "local", "own"]) {
    const answer = await callTool(over, "authorize_connector", { connector });
    const { url: _, ...rest } = answer.structuredContent ?? {};
    told.answers.push(JSON.stringify(rest));
  }
  told.answers.push((await rpc(over, "tools/list")).text);
  await fetch(`${server.url}/health`).then(async (one) => told.answers.push(await one.text()));
}

/** Everything in the vault, opened, and the texts that a person or a server made of it. */
async function secretsIn(storage: Storage): Promise<string[]> {
  const vault = new Vault(storage, keys);
  const found: string[] = [];
  for (const key of valueOf(await storage.list("vault/"))) {
    const [purpose, connector = "", field = ""] = key.replace("vault/", "").split("/");
    const place = { purpose, connector, field } as Place;
    const sealed = valueOf(await storage.get(keyOf(place)));
    if (sealed === "used" || sealed === undefined) continue;
    const text = valueOf(await vault.open(place, sealed));
    if (purpose === "field") found.push(text);
    else
      found.push(
        ...[...text.matchAll(/"(?:access|refresh|verifier|client_secret)":"([^"]+)"/g)].map(
          ([, one]) => `${one}`,
        ),
      );
  }
  return found;
}

/** What the processes of the sandbox were started with. */
function sandboxEnvironments(pids: readonly number[]): string {
  return pids.map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8")).join("\n");
}

/** Keeps every line that the console gets; gives what ends that. */
function overhear(told: Told): () => void {
  const spies = (["error", "warn", "log", "info"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((...all) => {
      told.lines.push(all.map(shown).join(" "));
    }),
  );
  return () => spies.forEach((spy) => spy.mockRestore());
}

/** Lives through everything: nothing there, all handed over, and a token refused on the way. */
async function liveThrough(server: Listening, desk: CredentialDesk, told: Told, storage: Storage) {
  const secrets = [KEY, MACHINE.clientSecret];
  await callEverything(server, told);
  for (const connector of ["gossip", "local", "own"]) {
    valueOf(await desk.set(connector, { token: secret() }));
  }
  await comeBackTo(server, told, secrets);
  await callEverything(server, told);
  const before = await secretsIn(storage);
  for (const each of before) await (await issuer.provider.AccessToken.find(each))?.destroy();
  await callEverything(server, told);
  const after = await secretsIn(storage);
  expect(after).not.toEqual(before);
  return [...secrets, ...before, ...after];
}

test.runIf(process.platform === "linux")(
  "E4, X3: no credential, code, state, verifier or token is told to anybody",
  async () => {
    const told: Told = { answers: [], lines: [] };
    const restore = overhear(told);
    vi.stubEnv("CONNECTA_VAULT_KEY", KEY);
    const storage = memoryStorage();
    const executor = quickjsExecutor({ processes: 2 });
    const log = ({ message, fields, error }: LogEntry) =>
      void told.lines.push(message, JSON.stringify(fields), ...(error ? [shown(error)] : []));
    const config = { executor, storage, vault: { key: KEY }, log };
    const server = valueOf(await listen({ ...config, connectors: connectors() }, { port: 0 }));
    const desk = openDesk(readConfig({ ...config, connectors: connectors() }));
    if (desk === undefined) throw new Error("Every one of them needs a credential.");
    try {
      const secrets = await liveThrough(server, desk, told, storage);
      await executor.warm();
      const outputs = {
        answers: told.answers.join("\n"),
        lines: told.lines.join("\n"),
        environments: sandboxEnvironments(executor.pids),
        store: valueOf(await storage.list("")).join("\n"),
        states: JSON.stringify(await desk.list()),
      };
      const leaks = Object.entries(outputs).flatMap(([where, text]) =>
        secrets.filter((one) => text.includes(one)).map((one) => `${where}: ${one}`),
      );
      expect(secrets.length).toBeGreaterThan(15);
      expect(leaks).toEqual([]);
      // Control: who should have them did, the operator hears of faults, and children inherit.
      const isIn = (text: string) => secrets.some((one) => text.includes(one));
      expect(isIn(resource.presented.join("\n"))).toBe(true);
      expect(isIn(JSON.stringify(gossip.asked))).toBe(true);
      expect(isIn(execFileSync("cat", ["/proc/self/environ"], { encoding: "utf8" }))).toBe(true);
      expect(outputs.answers).toContain("[redacted]");
      expect(outputs.lines).toContain("RangeError");
    } finally {
      restore();
      vi.unstubAllEnvs();
      await server.close();
    }
  },
);

/** Goes the person's way; code and state become secrets, also where they were tried in vain. */
async function comeBackTo(server: Listening, told: Told, secrets: string[]): Promise<void> {
  const { text } = await post(server.url, "tools/call", {
    name: "authorize_connector",
    arguments: { connector: "person" },
  });
  const url = /"url":"([^"]+)"/.exec(/"structuredContent":.*/.exec(text)?.[0] ?? "")?.[1];
  const back = await visit(url ?? "", `${server.url}/oauth/callback/`);
  secrets.push(back.searchParams.get("code") ?? "", back.searchParams.get("state") ?? "");
  for (const tamper of [
    (one: URL) => one.searchParams.set("state", secret()),
    () => undefined,
    () => undefined,
  ]) {
    const tampered = new URL(back);
    tamper(tampered);
    secrets.push(tampered.searchParams.get("state") ?? "");
    const page = await fetch(tampered);
    told.answers.push(await page.text(), JSON.stringify([...page.headers]));
  }
}

function shown(value: unknown): string {
  if (!(value instanceof Error)) return String(value);
  return `${value.stack ?? ""} ${value.name} ${value.message} ${shown(value.cause ?? "")}`;
}
