import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { api, type ConnectaConfig } from "../../server/index.ts";
import { listen, type Listening, type ListenOptions } from "../../server/node/listen.ts";
import { Metrics } from "../../server/node/metrics.ts";
import { metricsPage } from "../../server/node/metrics-page.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { FAILURES } from "../../server/shared/failure.ts";
import { post } from "../../verify/support/messages.ts";

const TOKEN = "correct-horse-battery";
const open: Listening[] = [];
afterEach(async () => {
  release();
  await Promise.all(open.splice(0).map((server) => server.close()));
});

let release = () => {};
const released = () => new Promise<void>((resolve) => (release = resolve));

/** A connector with one tool that answers and one that waits for the test. */
function desk() {
  const common = { inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  const until = released();
  return api({
    id: "desk",
    tools: {
      echo: { ...common, description: "Echo.", handler: (args: unknown) => args },
      wait: { ...common, description: "Wait.", handler: () => until.then(() => "waited") },
    },
  });
}

async function serve(
  config: Partial<ConnectaConfig> = {},
  options: ListenOptions = {},
): Promise<Listening> {
  const connectors = [desk()];
  const executor = quickjsExecutor({ processes: 1 });
  const given = { connectors, executor, ...config };
  const listening = await listen(given, { port: 0, metrics: true, ...options });
  if (!listening.ok) throw new Error(listening.failure.message);
  open.push(listening.value);
  return listening.value;
}

const call = async ({ url }: Listening, name: string, args: object) =>
  (await post(url, "tools/call", { name, arguments: args })).text;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format strictly: every line is a comment that it knows, or a sample. */
function parse(text: string): Sample[] {
  expect(text.endsWith("\n")).toBe(true);
  const typed = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  return text.split("\n").flatMap((line) => {
    if (line === "" || /^# (HELP|TYPE) \S+ /.test(line)) return [];
    const [, name = "", , labels = "", value = ""] =
      /^([a-z_]+)(\{(.*)\})? (\S+)$/.exec(line) ?? expect.fail(`no sample: ${line}`);
    expect(typed).toContain(typed.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""));
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\\n]|\\.)*)"(?:,|$)/g)];
    expect(pairs.map(([pair]) => pair).join("")).toBe(labels);
    expect(Number(value)).not.toBeNaN();
    return [
      {
        name,
        labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])),
        value: Number(value),
      },
    ];
  });
}

async function scrape({ url }: Listening): Promise<Sample[]> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return parse(await response.text());
}

function valueOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}) {
  const found = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  expect(found.map(({ labels }) => labels)).toHaveLength(1);
  return found[0]?.value;
}

describe("/metrics", () => {
  test("tells of calls, programs, requests and loads that ended, and of the process", async () => {
    const server = await serve();
    await call(server, "call_tool", { address: "desk.echo" });
    await call(server, "call_tool", { address: "desk.echo", args: 5 });
    await call(server, "execute_code", { code: "await desk.echo({}); throw new Error('no')" });
    const samples = await scrape(server);
    const calls = (labels: Record<string, string>) =>
      valueOf(samples, "connecta_calls_total", labels);
    expect(calls({ connector: "desk", source: "call_tool", outcome: "ok" })).toBe(1);
    expect(calls({ connector: "desk", source: "execute_code", outcome: "ok" })).toBe(1);
    expect(valueOf(samples, "connecta_runs_total", { code: "program_error" })).toBe(1);
    expect(
      valueOf(samples, "connecta_requests_total", { tool: "call_tool", code: "invalid_args" }),
    ).toBe(1);
    expect(valueOf(samples, "connecta_call_duration_seconds_count", { connector: "desk" })).toBe(2);
    expect(valueOf(samples, "connecta_run_duration_seconds_count")).toBe(1);
    expect(valueOf(samples, "connecta_catalog_loads_total", { connector: "desk" })).toBe(1);
    expect(valueOf(samples, "connecta_admission_wait_seconds_count", { queue: "runs" })).toBe(1);
    expect(valueOf(samples, "connecta_sandbox_processes")).toBe(1);
    expect(valueOf(samples, "connecta_build_info", { version: "0.1.0" })).toBe(1);
    expect(valueOf(samples, "process_resident_memory_bytes")).toBeGreaterThan(1e7);
    expect(valueOf(samples, "connecta_event_loop_lag_seconds", { quantile: "0.99" })).toBeLessThan(
      60,
    );
  });

  test("answers while every place for programs is taken, and says so", async () => {
    const server = await serve({ execute: { maxRuns: 1, maxQueuedRuns: 2 } });
    const code = "return desk.wait()";
    const waiting = Array.from({ length: 3 }, () => call(server, "execute_code", { code }));
    const held = Array.from({ length: 40 }, () =>
      call(server, "call_tool", { address: "desk.wait" }),
    );
    for (;;) {
      const samples = await scrape(server);
      const queued = valueOf(samples, "connecta_admissions_waiting", { queue: "runs" });
      if (queued !== 2) continue;
      expect(valueOf(samples, "connecta_admissions_active", { queue: "runs" })).toBe(1);
      break;
    }
    expect(await call(server, "execute_code", { code })).toContain("executor_overloaded");
    const samples = await scrape(server);
    const refused = { queue: "runs", reason: "full" };
    expect(valueOf(samples, "connecta_admission_refusals_total", refused)).toBe(1);
    release();
    for (const answer of await Promise.all([...waiting, ...held]))
      expect(answer).toContain("waited");
  });

  test("whatever callers say, labels hold ids, tools, codes and words of ours alone", async () => {
    const server = await serve();
    for (let at = 0; at < 30; at++) {
      const odd = `odd-${at}"\n\\`;
      await call(server, "call_tool", { address: `${odd}.${odd}` });
      await call(server, "call_tool", { address: `desk.${odd}` });
      await call(server, "search_tools", { query: odd });
      await call(server, odd, {});
      await call(server, "execute_code", { code: `throw new Error(${JSON.stringify(odd)})` });
    }
    const seen: Record<string, Set<string>> = {};
    for (const { labels } of await scrape(server)) {
      for (const [label, value] of Object.entries(labels)) (seen[label] ??= new Set()).add(value);
    }
    const { le, code = new Set<string>(), ...others } = seen;
    expect(le?.size).toBe(16);
    expect([...code].filter((one) => !Object.hasOwn(FAILURES, one))).toEqual([]);
    const shown = Object.entries(others).map(([label, values]) => [label, [...values].toSorted()]);
    expect(Object.fromEntries(shown)).toEqual({
      connector: ["", "desk"],
      outcome: ["failed", "ok"],
      quantile: ["0.5", "0.99"],
      queue: ["connectors", "requests", "runs"],
      source: ["call_tool"],
      tool: ["call_tool", "execute_code", "search_tools"],
      version: ["0.1.0"],
    });
  });

  test("is not there unless it is asked for", async () => {
    const server = await serve({}, { metrics: false });
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test("takes GET and HEAD, and no other method", async () => {
    const { url } = await serve();
    const head = await fetch(`${url}/metrics`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
  });
});

describe("who may read /metrics", () => {
  test("with auth whoever has the token, from wherever, and nobody else", async () => {
    const { url } = await serve({ auth: { bearer: TOKEN } });
    const status = async (authorization: string) => {
      const response = await fetch(`${url}/metrics`, { headers: { authorization } });
      return [response.status, response.headers.get("www-authenticate")];
    };
    expect(await status(`Bearer ${TOKEN}`)).toEqual([200, null]);
    expect(await status(`Bearer ${TOKEN}x`)).toEqual([401, "Bearer"]);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
  });

  test("without auth no page that reaches this machine under a name of its own", async () => {
    const { port } = await serve({ http: { allowedHosts: ["127.0.0.1", "mcp.example.com"] } });
    const status = (host: string) =>
      new Promise((resolve) => {
        const sent = request({ port, path: "/metrics", headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.end();
      });
    expect(await status(`127.0.0.1:${port}`)).toBe(200);
    expect(await status(`localhost:${port}`)).toBe(200);
    expect(await status("mcp.example.com")).toBe(403);
  });

  test.each([
    ["127.0.0.1", 200],
    ["::1", 200],
    ["::ffff:127.0.0.1", 200],
    ["192.0.2.7", 403],
    ["::ffff:192.0.2.7", 403],
    [undefined, 403],
  ])("without auth a client at %s is answered %i", async (remoteAddress, status) => {
    const metrics = new Metrics({ execute: () => Promise.resolve({ result: null }) });
    const page = metricsPage(metrics, undefined);
    const asked = new Request("http://127.0.0.1/metrics", { headers: { host: "127.0.0.1" } });
    const response = await page(asked, { incoming: { socket: { remoteAddress } } });
    metrics.close();
    expect(response?.status).toBe(status);
  });
});
