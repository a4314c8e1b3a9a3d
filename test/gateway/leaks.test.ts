import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { fileActivity } from "../../server/node/activity-file.ts";
import { listen, type Listening } from "../../server/node/listen.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { api, type ConnectaConfig } from "../../server/index.ts";

vi.setConfig({ testTimeout: 120_000 });

const RUNS = 1_000;
const AT_ONCE = 16;

/** Sent to a deployment where a program may not live long. */
const OVERLONG = "return demo.wait() /* too long */";

/** What a program may do to a server, and what the server says of it; `undefined` is cancelled. */
const MIX: readonly (readonly [code: string, outcome: string | undefined])[] = [
  ["return 1", "ok"],
  ["return (await demo.read({ n: 2 })).n", "ok"],
  ["return connecta.batch([{ address: 'demo.read' }, { address: 'demo.nope' }])", "ok"],
  ["demo.wait(); return 'left its call behind'", "ok"],
  ["await connecta.ui('<p>'); await connecta.emit({ type: 'text', text: 'a' }); return 1", "ok"],
  ["Promise.reject(new Error('x')); return 1", "ok"],
  ["throw new Error('own')", "program_error"],
  ["return {{", "invalid_program"],
  ["return 10n", "not_serializable"],
  ["await new Promise(() => {}); return 1", "program_error"],
  [OVERLONG, "executor_timeout"],
  ["for (;;);", "executor_limit"],
  ["const kept = []; for (;;) kept.push(new Uint8Array(1 << 20))", "executor_limit"],
  ["const f = () => f() + 1; return f()", "executor_limit"],
  ["return demo.wait()", undefined],
  ["for (;;) await demo.read({ n: 1 }).catch(() => null)", undefined],
  ["await demo.read({ n: 1 }); for (;;);", undefined],
];

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Everything of this process that outlives a request when nobody lets go of it. */
function alive(): Record<string, unknown> {
  const kinds: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const task = `/proc/self/task/${process.pid}/children`;
  return {
    kinds,
    listeners: Object.fromEntries(listeners) as unknown,
    descriptors: readdirSync("/proc/self/fd").length,
    processes: readFileSync(task, "utf8").trim().split(" ").length,
  };
}

function deployment() {
  const calls = { open: 0 };
  const common = { inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
  const demo = api({
    id: "demo",
    tools: {
      read: { ...common, description: "Echo.", handler: (args: unknown) => args },
      wait: {
        ...common,
        description: "Answers when its caller is gone.",
        handler: (_: unknown, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            calls.open++;
            const end = () => {
              calls.open--;
              resolve(null);
            };
            if (signal.aborted) end();
            else signal.addEventListener("abort", end, { once: true });
          }),
      },
    },
  });
  return { calls, demo };
}

interface Call {
  readonly outcome: Promise<string | undefined>;
  cancel(): void;
}

function execute(url: string, agent: Agent, code: string): Call {
  const sent = request(`${url}/mcp`, {
    agent,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
  });
  const outcome = new Promise<string | undefined>((resolve) => {
    sent.on("error", () => resolve(undefined));
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", () => resolve(undefined));
      response.on("end", () => resolve(outcomeOf(text)));
    });
  });
  const params = { name: "execute_code", arguments: { code } };
  sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  return { outcome, cancel: () => sent.destroy() };
}

function outcomeOf(body: string): string {
  const text = /^data: (.*)$/m.exec(body)?.[1] ?? body;
  const { structuredContent } = (JSON.parse(text) as { result: Record<string, unknown> }).result;
  const { error } = structuredContent as { error?: { code: string } };
  return error?.code ?? "ok";
}

/** Runs the mix from several connections at once; says how often each outcome was not as listed. */
async function runMix(patient: Listening, brief: Listening, runs: number): Promise<string[]> {
  const surprises: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let next = 0;
  const client = async () => {
    while (next < runs) {
      const at = next++;
      const [code, expected] = MIX[at % MIX.length] ?? ["", ""];
      const { url } = code === OVERLONG ? brief : patient;
      const call = execute(url, agent, code);
      // Every cancelled run is cancelled at another moment of its life.
      const lifetime = expected === undefined ? (at * 37) % 400 : 0;
      for (let turns = 0; turns < lifetime; turns++) await turn();
      if (expected === undefined) call.cancel();
      const outcome = await call.outcome;
      if (outcome !== expected && expected !== undefined) surprises.push(`${code}: ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  return surprises;
}

async function started(config: ConnectaConfig): Promise<Listening> {
  const listening = await listen(config, { port: 0 });
  if (!listening.ok) throw new Error(listening.failure.message);
  return listening.value;
}

test.runIf(process.platform === "linux")(
  "L3: a thousand runs of every kind leave no handle, listener, timer, descriptor, call or process",
  async () => {
    const { calls, demo } = deployment();
    const executor = quickjsExecutor({ processes: 2 });
    const folder = mkdtempSync(join(tmpdir(), "connecta-leaks-"));
    // So small that its files are changed again and again.
    const activity = fileActivity({ file: join(folder, "a.jsonl"), maxBytes: 16_384, files: 2 });
    const options = { connectors: [demo], executor, activity, execute: { cpuMs: 60 } };
    const patient = await started(options);
    const brief = await started({ connectors: [demo], executor, execute: { timeoutMs: 300 } });
    try {
      await executor.warm();
      await runMix(patient, brief, 2 * MIX.length);
      const settled = async () => {
        await executor.warm();
        // What was recorded is written, and nothing waits for more of it.
        await activity.read({ limit: 1 });
        for (let turns = 0; turns < 200; turns++) await turn();
      };
      await settled();
      const before = alive();
      expect(await runMix(patient, brief, RUNS)).toEqual([]);
      expect(calls.open).toBe(0);
      // Sockets and killed processes are gone when the event loop has heard of it.
      for (let rounds = 0; rounds < 50 && !isDeepStrictEqual(alive(), before); rounds++) {
        await settled();
      }
      expect(alive()).toEqual(before);
    } finally {
      await Promise.all([patient.close(), brief.close()]);
      rmSync(folder, { recursive: true });
    }
    expect(executor.pids).toEqual([]);
  },
);
