import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SELF_SIGNED } from "../support/certificate.ts";
import { CONNECTA, CONNECTA_NODE, commandFolder } from "../support/command.ts";

const SECRET = "sk-do-not-print-me";
const { run, write } = commandFolder({
  "dies.mjs": `console.error("API_KEY is not set, " + process.env.API_KEY); process.exit(3)`,
});

interface Check {
  readonly step: string;
  readonly state: string;
  readonly findings: readonly Record<string, string>[];
}

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));
function listening(server: Server): Promise<number> {
  servers.push(server);
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}

/** A server of the older generation with these tools, or one that answers everything alike. */
function answering(tools: readonly object[], handshake = true) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      ...(handshake && {
        initialize: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "t", version: "1" },
        },
      }),
      ...(tools.length > 0 && { "tools/list": { tools } }),
    };
    const result = results[method ?? ""];
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  };
}
const fixed = (status: number, type: string, body: string) =>
  createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": type }).end(body);
  });

const GOOD = { name: "get", description: "Get.", inputSchema: { type: "object" } };
const READS = { annotations: { readOnlyHint: true } };
const ports: Record<string, number> = {};

beforeAll(async () => {
  const closed = createServer();
  ports.closed = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  ports.tls = await listening(createTlsServer(SELF_SIGNED, (_, response) => response.end("{}")));
  ports.unauthorized = await listening(fixed(401, "text/plain", SECRET));
  ports.missing = await listening(fixed(404, "text/html", "<p>not here</p>"));
  ports.html = await listening(fixed(200, "text/html", "<h1>Sign in</h1>"));
  ports.failing = await listening(fixed(503, "text/plain", "later"));
  ports.handshake = await listening(createServer(answering([], false)));
  ports.list = await listening(createServer(answering([])));
  ports.good = await listening(createServer(answering([{ ...GOOD, ...READS }])));
  ports.silent = await listening(createServer(answering([GOOD])));
  const inputSchema = { type: "object", properties: { a: { $ref: "#/$defs/none" } } };
  ports.schema = await listening(createServer(answering([{ ...GOOD, ...READS, inputSchema }])));
  const list = { ...GOOD, name: "list", inputSchema: { type: "array" } };
  ports.aside = await listening(createServer(answering([{ ...GOOD, ...READS }, list])));
});

const headers = `headers: { authorization: "Bearer ${SECRET}" }`;
const remote = (name: string, more = headers, scheme = "http://127.0.0.1") =>
  `remoteMcp({ id: "crm", url: "${scheme}:${ports[name]}/mcp", ${more} })`;

/** Writes a config with one connector, looks at it, and gives what was found. */
async function examined(connector: string, options = "", env: Record<string, string> = {}) {
  write(
    "connecta.config.mjs",
    `import { api, remoteMcp } from "${CONNECTA}";
     import { sqliteStorage, stdioMcp } from "${CONNECTA_NODE}";
     export default { connectors: [${connector}], ${options} };`,
  );
  const { code, stdout, stderr } = await run(["doctor", "--json"], { env });
  expect(stdout + stderr).not.toContain(SECRET);
  const { ok, parts } = JSON.parse(stdout) as {
    ok: boolean;
    parts: { name: string; checks: Check[] }[];
  };
  expect(code).toBe(ok ? 0 : 1);
  const checks = parts.flatMap((part) => part.checks);
  const failed = checks.filter(({ state }) => state === "failed");
  return {
    ok,
    failed: failed.map(({ step, findings }) => [step, ...findings.map((one) => one.code)]),
    findings: failed.flatMap(({ findings }) => findings),
    skipped: checks.filter(({ state }) => state === "skipped").map(({ step }) => step),
    stderr,
  };
}

describe("connecta doctor", { timeout: 30_000 }, () => {
  test("says that all is well where it is, with exit code 0", async () => {
    const found = await examined(remote("good"), `storage: sqliteStorage({ file: "good.db" })`);
    expect(found).toEqual({ ok: true, failed: [], findings: [], skipped: [], stderr: "" });
  });

  test.each<[string, () => string, [string, string], string]>([
    [
      "a name that nobody knows",
      () => `remoteMcp({ id: "crm", url: "http://no-such-host.invalid/mcp" })`,
      ["name", "name_unresolved"],
      "no-such-host.invalid",
    ],
    ["a closed port", () => remote("closed"), ["connection", "connection_failed"], "ECONNREFUSED"],
    [
      "a certificate that nobody signed",
      () => remote("tls", headers, "https://localhost"),
      ["tls", "certificate_refused"],
      "DEPTH_ZERO_SELF_SIGNED_CERT",
    ],
    ["HTTP 404", () => remote("missing"), ["http", "endpoint_wrong"], "HTTP 404"],
    ["HTML instead of JSON", () => remote("html"), ["http", "answer_no_mcp"], "text/html"],
    ["HTTP 503", () => remote("failing"), ["http", "server_failed"], "HTTP 503"],
    ["HTTP 401", () => remote("unauthorized"), ["auth", "credential_refused"], "HTTP 401"],
    [
      "a handshake that is refused",
      () => remote("handshake"),
      ["initialize", "handshake_failed"],
      "Method not found",
    ],
    ["a list that is refused", () => remote("list"), ["list", "list_failed"], "Method not found"],
    [
      "a schema that leads nowhere",
      () => remote("schema"),
      ["schemas", "schema_invalid"],
      "dangling $ref",
    ],
    [
      "a tool that nobody can call",
      () => remote("aside"),
      ["schemas", "tool_set_aside"],
      "arguments are no object",
    ],
    [
      "a tool without annotations",
      () => remote("silent"),
      ["annotations", "annotations_missing"],
      "get say not whether they only read",
    ],
    [
      "a policy that names no tool",
      () => remote("good", 'hide: ["drop"]'),
      ["annotations", "policy_without_effect"],
      '"drop"',
    ],
    [
      "a command that is not there",
      () => `stdioMcp({ id: "crm", command: "connecta-test-no-such-command" })`,
      ["command", "command_missing"],
      "connecta-test-no-such-command",
    ],
  ])("explains %s", async (_, connector, [step, code], cause) => {
    const found = await examined(connector());
    expect(found.failed).toEqual([[step, code]]);
    expect(found.findings[0]?.cause).toContain(cause);
    expect(found.findings[0]?.fix?.length).toBeGreaterThan(10);
    expect(found.ok).toBe(false);
  });

  test("what lies behind a step that failed is not looked at", async () => {
    const found = await examined(remote("unauthorized"));
    expect(found.skipped).toEqual(["initialize", "list", "schemas", "annotations"]);
  });

  test("a tool that the config decides about needs no annotations", async () => {
    expect((await examined(remote("silent", 'approval: ["get"]'))).ok).toBe(true);
  });

  test("explains a process that dies, with what it wrote last and no secret of it", async () => {
    const found = await examined(
      `stdioMcp({ id: "crm", command: process.execPath, args: ["dies.mjs"], env: { API_KEY: "${SECRET}" } })`,
    );
    expect(found.failed).toEqual([["initialize", "process_failed"]]);
    expect(found.findings[0]?.cause).toContain("ended with exit code 3");
    expect(found.findings[0]?.errorOutput).toContain("API_KEY is not set");
  });

  test("explains a credential that is missing, and one that another key sealed", async () => {
    const connector = () =>
      remote(
        "good",
        'credential: { fields: { token: { title: "Token" } }, headers: ({ token }) => ({ authorization: token }) }',
      );
    const store = `storage: sqliteStorage({ file: "sealed.db" })`;
    const key = (letter: string) => ({
      CONNECTA_VAULT_KEY: Buffer.alloc(32, letter).toString("base64"),
    });
    const missing = await examined(connector(), store, key("a"));
    expect(missing.failed).toEqual([["auth", "credential_missing"]]);
    const set = await run(["credentials", "set", "crm"], { env: key("a"), stdin: SECRET });
    expect(set.code).toBe(0);
    expect((await examined(connector(), store, key("a"))).ok).toBe(true);
    const other = await examined(connector(), store, key("b"));
    expect(other.failed).toEqual([["auth", "credential_unreadable"]]);
    expect(other.findings[0]?.fix).toContain("CONNECTA_VAULT_KEY");
  });

  test("explains a credential that a connector of this process lacks", async () => {
    const connector = `api({ id: "crm", credential: { fields: { token: "Token" } }, tools: {} })`;
    const store = `storage: sqliteStorage({ file: "own.db" })`;
    const env = { CONNECTA_VAULT_KEY: Buffer.alloc(32, "a").toString("base64") };
    const missing = await examined(connector, store, env);
    expect(missing.failed).toEqual([["auth", "credential_missing"]]);
    expect(missing.findings[0]?.fix).toBe("connecta credentials set crm");
    expect(missing.skipped).toEqual(["list", "schemas", "annotations"]);
    const set = await run(["credentials", "set", "crm"], { env, stdin: SECRET });
    expect(set.code).toBe(0);
    expect((await examined(connector, store, env)).ok).toBe(true);
  });

  test("explains a config, a store and a sandbox that cannot be used", async () => {
    const config = await examined("", "execute: { cpuMs: -1 }");
    expect(config.failed).toEqual([["config", "config_unusable"]]);
    expect(config.findings[0]?.cause).toContain("execute.cpuMs is not usable");
    expect(config.skipped).toEqual(["store", "sandbox"]);
    const store = await examined("", 'storage: sqliteStorage({ file: "/dev/null/no.db" })');
    expect(store.failed).toEqual([["store", "store_failed"]]);
    const executor = "{ execute: async () => ({ result: undefined, error: 'no process' }) }";
    const sandbox = await examined("", `executor: ${executor}`);
    expect(sandbox.failed).toEqual([["sandbox", "sandbox_failed"]]);
    expect(sandbox.findings[0]?.cause).toContain("no process");
  });

  test("tells a person the same in lines, without colour where nobody sees it", async () => {
    await examined(remote("missing"));
    const { code, stdout, stderr } = await run(["doctor", "crm"]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain("crm\n  name        ok\n  connection  ok\n  tls         ok\n");
    expect(stdout).toMatch(
      / {2}http {8}FAILED\n {4}code {3}endpoint_wrong\n {4}cause {2}.+\n {4}fix/,
    );
    expect(stdout).toContain("  auth        not looked at\n");
    expect(stdout).toContain("\n1 to mend.\n");
    expect(stdout).not.toContain("\u001b");
  });

  test("an unknown connector is one line and exit code 1", async () => {
    await examined(remote("good"));
    const { code, stdout, stderr } = await run(["doctor", "crn"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("connecta: There is no connector crn; there are: crm.\n");
  });
});
