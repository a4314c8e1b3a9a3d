import { randomUUID } from "node:crypto";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post } from "../support/messages.ts";
import { makeRepository, type Repository } from "../support/repository.ts";
import { startCommand, type Running } from "../support/server.ts";
import { programOf } from "./installed.ts";
import { knownServers, makeFolder, type Known } from "./known.ts";
import { httpServer, type HttpServer } from "./over-http.ts";
import { processes, type Process } from "./processes.ts";

const HOW = "install them with `npm run servers`";
const LEAST = 12;
const run = randomUUID();
const folder = join(tmpdir(), `connecta-servers-${run}`);
const around = { folder, repository: join(folder, "repository"), nowhere: "http://127.0.0.1:9" };
/** In the environment of every server of this run, and of what it starts. */
const mark = { CONNECTA_SERVERS: run };

const known = knownServers(around);
const present = known.filter((one) => programOf(one.package) !== undefined);
const overHttp: HttpServer[] = [];
let repository: Repository | undefined;
let connecta: Running | undefined;

/** A client's file that lists what is installed. */
function clientFile(): string {
  const servers = present.map((one) => {
    const policy = one.readOnly === undefined ? {} : { readOnly: one.readOnly };
    const http = overHttp.find((server) => server.known === one);
    if (http !== undefined) return [one.id, { url: http.url, ...one.http, ...policy }];
    const args = [programOf(one.package), ...(one.args ?? [])];
    const env = { HOME: folder, ...mark, ...one.env };
    const command = process.execPath;
    return [one.id, { command, args, env, cwd: folder, startTimeoutMs: 60_000, ...policy }];
  });
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  return file;
}

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: {
    readonly result?: unknown;
    readonly error?: { readonly code?: string };
    readonly unavailable?: readonly unknown[];
    readonly connectors?: readonly {
      readonly id: string;
      readonly tools: readonly { readonly name: string }[];
    }[];
  };
}

/** What one of our seven tools answers. */
async function ask(name: string, args: object): Promise<Answer> {
  const params = { name, arguments: args };
  const { text } = await post(connecta?.origin ?? "", "tools/call", params);
  const message: unknown = JSON.parse(text);
  return (message as { readonly result: Answer }).result;
}

function callOf({ id, trial: { tool, args, approved } }: Known): Promise<Answer> {
  const address = `${id}.${tool}`;
  return ask(approved === true ? "call_destructive_tool" : "call_tool", { address, args });
}

/** Whether a call came to what it has to come to. */
function expectTried({ trial: { holds, fails = false } }: Known, answer: Answer): void {
  expect(JSON.stringify(answer)).toContain(holds);
  expect(answer.isError ?? false).toBe(fails);
  if (fails) expect(answer.structuredContent?.error?.code).toBe("connector_call_failed");
}

const ours = (): readonly Process[] =>
  processes().filter(({ env }) => env.includes(mark.CONNECTA_SERVERS));

/** The process that the server itself is, not what it started. */
function processOf(one: Known): Process {
  const program = programOf(one.package) ?? "";
  const found = ours().filter(
    ({ parent, command }) => parent === connecta?.pid && command.includes(program),
  );
  expect(found).toHaveLength(1);
  return found[0]!;
}

describe.runIf(process.platform === "linux")("servers of packages, all behind one connecta", () => {
  beforeAll(async () => {
    makeFolder(around);
    repository = makeRepository(3);
    symlinkSync(repository.directory, around.repository);
    for (const one of present.filter(({ http }) => http !== undefined)) {
      overHttp.push(await httpServer(one, programOf(one.package) ?? "", { HOME: folder, ...mark }));
    }
    await Promise.all(overHttp.map((server) => server.start()));
    connecta = await startCommand(["serve", "--mcp-config", clientFile()], folder);
  });

  afterAll(async () => {
    await connecta?.stop();
    await Promise.all(overHttp.map((server) => server.kill()));
    for (const { pid } of ours()) process.kill(pid, "SIGKILL");
    repository?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const none = present.length === 0;
  test.skipIf(none)(
    `all of them list their tools${none ? `: none is installed; ${HOW}` : ""}`,
    async () => {
      // On a busy machine not everybody has started within the time of one listing.
      const unavailable = async () => {
        const { structuredContent } = await ask("search_tools", {});
        return structuredContent?.unavailable ?? [];
      };
      await expect.poll(unavailable, { timeout: 55_000, interval: 500 }).toEqual([]);
    },
  );

  for (const one of known) {
    const missing = programOf(one.package) === undefined;
    const why = missing ? `: skipped, the package is missing; ${HOW}` : "";
    test.skipIf(missing)(
      `${one.id} is found, described and called (${one.package})${why}`,
      async () => {
        const address = `${one.id}.${one.trial.tool}`;
        const filter = one.http === undefined ? {} : { connector: one.id };
        const page = await ask("search_tools", { query: one.query, ...filter });
        const group = page.structuredContent?.connectors?.find(({ id }) => id === one.id);
        expect(group?.tools.map(({ name }) => name)).toContain(one.trial.tool);

        const code = `async () => connecta.describe({ address: ${JSON.stringify(address)} })`;
        const described = (await ask("execute_code", { code })).structuredContent?.result;
        expect(JSON.stringify(described)).toContain(JSON.stringify(address));
        expect(JSON.stringify(described)).toContain('"inputSchema":{');

        expectTried(one, await callOf(one));
      },
    );
  }

  const few = present.length < LEAST;
  const why = few ? `: skipped, ${present.length} of ${known.length} are there; ${HOW}` : "";
  test.skipIf(few)(
    `half of them are killed in the middle of a call, and the others go on${why}`,
    async () => {
      const doomed = present.filter((_, at) => at % 2 === 0);
      const others = present.filter((_, at) => at % 2 === 1);
      const http = overHttp.filter((server) => doomed.includes(server.known));
      expect(http.length > 0).toBe(overHttp.length > 0);
      const started = doomed.filter(({ http }) => http === undefined).map(processOf);

      // Who stands still cannot have answered before the end.
      for (const { pid } of started) process.kill(pid, "SIGSTOP");
      for (const server of http) server.freeze();
      const calls = doomed.map(callOf);
      for (const one of others) expectTried(one, await callOf(one));
      for (const { pid } of started) process.kill(pid, "SIGKILL");
      for (const server of http) await server.kill();
      for (const answer of await Promise.all(calls)) {
        expect(answer).toMatchObject({
          isError: true,
          structuredContent: { error: { code: "unavailable" } },
        });
      }

      await Promise.all(http.map((server) => server.start()));
      for (const one of [...doomed, ...others]) expectTried(one, await callOf(one));
      const back = doomed.filter(({ http }) => http === undefined).map(processOf);
      const before = new Set(started.map(({ pid }) => pid));
      expect(back.filter(({ pid }) => before.has(pid))).toEqual([]);
    },
  );

  test.skipIf(none)("with connecta every process ends that it started", async () => {
    const own = processes().filter(({ parent }) => parent === connecta?.pid);
    // The control: looked for in this way, they are found, and what watches over them.
    expect(own.length).toBeGreaterThanOrEqual(2 * (present.length - overHttp.length));
    expect(ours().length).toBeGreaterThanOrEqual(present.length);
    await connecta?.stop();
    await Promise.all(overHttp.map((server) => server.kill()));
    expect(ours()).toEqual([]);
    const pids = new Set(own.map(({ pid }) => pid));
    // Who watches is ended by force, which takes the system a moment.
    const left = () => processes().filter(({ pid }) => pids.has(pid));
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  });
});
