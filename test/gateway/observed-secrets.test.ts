import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  api,
  createConnecta,
  ToolError,
  type Connecta,
  type LogEntry,
  type LogFormat,
} from "../../server/index.ts";
import { Metrics } from "../../server/node/metrics.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import type { ToolResult } from "../../server/shared/contracts.ts";
import { fail, ok, type FailureCode, type Outcome } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";
import { callTool, rpc } from "../support/gateway.ts";
import { installSdk, type Installed } from "../support/telemetry.ts";

/** Long enough that none appears by chance, and of characters that every output shows as they are. */
const secret = () => `sk${crypto.randomUUID().replaceAll("-", "")}`;

const READ = { readOnlyHint: true } as const;
const OBJECT = { type: "object" } as const;

/** Connectors that say the secret wherever one can: in values, texts, codes, names and stacks. */
function tellTales(tell: () => string) {
  const tool = (handler: () => unknown) => ({
    description: "Tell.",
    inputSchema: OBJECT,
    annotations: READ,
    handler,
  });
  const tale = api({
    id: "tale",
    tools: {
      answer: tool(() => ({ told: tell() })),
      refuse: tool(() => {
        throw new ToolError(`No: ${tell()}`);
      }),
      // The text looks like a place in the code, at which logs do look.
      crash: tool(() => {
        throw new RangeError(`broken\n    at ${tell()} (file:///a/${tell()}.js:1:2)\n${tell()}`);
      }),
      throw: tool(() => {
        // oxlint-disable-next-line no-throw-literal
        throw tell();
      }),
      picky: {
        ...tool(() => null),
        inputSchema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
      },
      broken: { ...tool(() => tell()), outputSchema: OBJECT },
    },
  });
  const answers: Record<string, () => Outcome<ToolResult>> = {
    mcp: () =>
      ok({
        kind: "mcp",
        content: [{ type: "text", text: tell() }],
        structuredContent: { error: { code: tell(), message: tell() } },
        isError: true,
      }),
    code: () => ({
      ok: false,
      failure: { ...fail("internal", tell()).failure, code: told(tell()) },
    }),
  };
  const far = fakeConnector("far", [fakeTool("mcp"), fakeTool("code")], {
    callTool: (name) => Promise.resolve(answers[name]?.() ?? fail("internal", tell())),
  });
  const gone = fakeConnector("gone", () => Promise.resolve(fail("unavailable", tell())));
  return [tale, far, gone];
}

/** What a connector of somebody else's may say in place of a code. */
function told(word: string): FailureCode {
  return word as FailureCode;
}

/** Everything that a caller can say, said with secrets. */
async function sayEverything(connecta: Connecta, tell: () => string): Promise<void> {
  const send = (name: string, args: Record<string, unknown>) => callTool(connecta, name, args);
  for (const tool of ["answer", "refuse", "crash", "throw", "picky", "broken", tell()]) {
    const args = { [tell()]: tell(), n: tell() };
    await send("call_tool", { address: `tale.${tool}`, args });
    await send("call_destructive_tool", { address: `tale.${tool}`, args, reason: tell() });
    await send("execute_code", {
      code: `/* ${tell()} */ return connecta.call("tale.${tool}", ${JSON.stringify(args)})`,
    });
  }
  for (const address of ["far.mcp", "far.code", `${tell()}.${tell()}`, `gone.${tell()}`, tell()]) {
    for (const resultMode of ["mcp", "value"]) await send("call_tool", { address, resultMode });
  }
  await send("call_tool", { address: "tale.answer", fields: [tell()] });
  await send("call_tool", { [tell()]: tell() });
  await send("execute_code", { code: `throw new Error(${JSON.stringify(tell())})` });
  await send("execute_code", { code: `return {{ ${tell()}` });
  await send("execute_code", { code: `console.log("${tell()}"); return "${tell()}"` });
  await send("search_tools", { query: tell(), connector: tell() });
  await send("authorize_connector", { connector: tell() });
  await send("get_result", { id: tell() });
  await send("skills", { name: tell() });
  await rpc(connecta, "tools/call", {
    name: "skills",
    arguments: {},
    _meta: { traceparent: tell(), tracestate: tell(), baggage: tell() },
  });
  await rpc(connecta, "tools/call", { name: tell(), arguments: {} });
  await rpc(connecta, tell());
}

let sdk: Installed;
beforeAll(() => {
  sdk = installSdk();
});
afterAll(() => sdk.remove());

describe("E4, T1: what an operator can see of random secrets", () => {
  test.each<LogFormat>(["text", "json"])(
    "none is in any span, metric, scrape or %s log line of the finest level",
    async (format) => {
      const secrets: string[] = [];
      const tell = () => {
        const made = secret();
        secrets.push(made);
        return made;
      };
      const lines: string[] = [];
      const printed = vi.spyOn(console, "error").mockImplementation((line) => lines.push(line));
      const executor = quickjsExecutor({ processes: 1 });
      const measures = new Metrics(executor);
      const connecta = createConnecta(
        { connectors: tellTales(tell), executor, log: { level: "debug", format } },
        { measures },
      );
      try {
        for (let round = 0; round < 5; round++) await sayEverything(connecta, tell);
      } finally {
        await connecta.close();
        measures.close();
        printed.mockRestore();
      }
      const spans = sdk.spans().map(({ name, attributes, status, events, links }) => ({
        ...{ name, attributes, status, events },
        links: links.map((link) => ({ ...link, state: link.context.traceState?.serialize() })),
      }));
      const output = {
        spans: JSON.stringify(spans),
        metrics: JSON.stringify(await sdk.metrics()),
        scrape: await measures.text(),
        log: lines.join("\n"),
      };
      expect(secrets.length).toBeGreaterThan(300);
      expect(
        secrets.filter((one) => Object.values(output).some((text) => text.includes(one))),
      ).toEqual([]);
      // And yet each of them has something to say.
      expect(spans.length).toBeGreaterThan(100);
      expect(output.metrics).toContain("connecta.call.duration");
      expect(output.scrape).toContain('connecta_calls_total{connector="tale"');
      expect(output.log).toContain("RangeError in tale.crash");
    },
  );

  test("control: the same secrets are there for whoever looks where they are", async () => {
    const entries: LogEntry[] = [];
    const executor = quickjsExecutor({ processes: 1 });
    const known = secret();
    const connecta = createConnecta({
      connectors: tellTales(() => known),
      executor,
      log: (entry) => entries.push(entry),
    });
    const answer = await callTool(connecta, "call_tool", { address: "tale.answer" });
    await callTool(connecta, "call_tool", { address: "tale.crash" });
    await connecta.close();
    expect(JSON.stringify(answer)).toContain(known);
    expect(entries.find(({ error }) => error)?.error?.message).toContain(known);
  });
});
