import { describe, expect, test } from "vitest";
import { ConfigError, readConfig, type ConnectaConfig } from "../server/config.ts";
import { memoryActivity, memoryStorage } from "../server/index.ts";
import { api } from "../server/connectors/api.ts";

const executor = { execute: () => Promise.resolve({ result: undefined }) };
const connector = (id: string) => api({ id, tools: {} });

function problem(config: Partial<ConnectaConfig>): string {
  try {
    readConfig({ connectors: [], executor, ...config });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return "accepted";
}

describe("a deployment's config", () => {
  test("G7: a sound config is filled with defaults", () => {
    const ready = readConfig({ connectors: [connector("crm")], executor, execute: { cpuMs: 90 } });
    expect(ready.limits).toMatchObject({ cpuMs: 90, maxHostCalls: 20, timeoutMs: 30_000 });
    expect(ready.name).toBe("connecta");
    expect(ready.httpLimits).toEqual({
      maxRequests: 256,
      maxQueuedRequests: 256,
      queueTimeoutMs: 5_000,
      bodyTimeoutMs: 10_000,
    });
    expect(ready.activity?.isVolatile).toBe(true);
  });

  test("T1: calls are recorded where the config says, or nowhere", () => {
    const activity = memoryActivity();
    expect(readConfig({ connectors: [], executor, activity }).activity).toBe(activity);
    expect(readConfig({ connectors: [], executor, activity: false }).activity).toBeUndefined();
  });

  test.each<[string, Partial<ConnectaConfig>, string]>([
    [
      "an id used twice",
      { connectors: [connector("crm"), connector("crm")] },
      "connectors[1].id crm is used twice",
    ],
    ["an unusable id", { connectors: [connector("a.b")] }, 'connectors[0].id "a.b" is unusable'],
    [
      "ids that collide as globals",
      { connectors: [connector("a-b"), connector("a_b")] },
      "share the name a_b",
    ],
    [
      "an id that programs already have",
      { connectors: [connector("console")] },
      "console is a name that programs already have",
    ],
    ["a connector that is none", { connectors: [{} as never] }, "connectors[0] is no connector"],
    [
      "an unknown limit",
      { execute: { cpu: 1 } as never },
      "execute.cpu is no option; execute can be: maxHostCalls",
    ],
    [
      "no request at once",
      { http: { maxRequests: 0 } },
      "http.maxRequests is not usable: Too small",
    ],
    [
      "an unknown limit of requests",
      { http: { maxRequest: 1 } as never },
      "http.maxRequest is no option; http can be: allowedHosts, allowedOrigins, maxRequests",
    ],
    [
      "a connector's limits that are none",
      { connectors: [{ ...connector("crm"), limits: { concurrency: 0 } }] },
      "connector crm: limits.concurrency must be a whole number from 1 to 10000.",
    ],
    [
      "an exception for requests that is none",
      { outbound: { allow: ["169.254.0.0/16", "http://printer.local"] } },
      "outbound.allow[1] is no host name, no address and no range: write it as",
    ],
    [
      "a list of such exceptions that is none",
      { outbound: { allow: "a" as never } },
      "outbound.allow",
    ],
    [
      "a short operator's secret",
      { operator: { secret: "too short" } },
      "operator.secret needs at least 16 characters",
    ],
    [
      "an operator's secret that callers have",
      { auth: { bearer: "correct-horse-battery" }, operator: { secret: "correct-horse-battery" } },
      "operator.secret is auth.bearer too",
    ],
    [
      "an operator without a secret",
      { operator: { secret: undefined } as never },
      "operator.secret is not usable: it has no value; write one, or set the variable that it is read from.",
    ],
    ["a store that is none", { storage: "connecta.db" as never }, "storage has no get(): give a"],
    [
      "a store of recorded calls that is none",
      { activity: "activity.jsonl" as never },
      'activity has no record(): give a store, such as fileActivity({ file: "activity.jsonl" })',
    ],
    ["activity switched on", { activity: true as never }, "activity has no record()"],
    [
      "a store of keys for recorded calls",
      { activity: memoryStorage() as never },
      "activity is a store of keys: give storageActivity({ storage }) with it.",
    ],
    ["a limit of 0", { execute: { cpuMs: 0 } }, "execute.cpuMs is not usable: Too small"],
    [
      "a stack the interpreter cannot hold",
      { execute: { stackBytes: 1_000_000 } },
      "execute.stackBytes is not usable: Too big",
    ],
    [
      "a heap that its process has no room for",
      { execute: { heapBytes: 2 ** 30 } },
      "execute.heapBytes is 1073741824: at most execute.processHeapBytes, now 536870912.",
    ],
    [
      "a heap that holds no program",
      { execute: { heapBytes: 1_000 } },
      "execute.heapBytes is not usable",
    ],
    [
      "an unknown option of http",
      { http: { allowedHost: [] } as never },
      "http.allowedHost is no option; http can be: allowedHosts, allowedOrigins",
    ],
    [
      "a text where a list belongs",
      { http: { allowedOrigins: "https://a.example" as never } },
      "http.allowedOrigins is not usable: Invalid input: expected array",
    ],
    [
      "an unknown option of calls",
      { calls: { timeoutms: 1 } as never },
      "calls.timeoutms is no option",
    ],
    [
      "an unknown option of auth",
      { auth: { bearer: "correct-horse-battery", user: "x" } as never },
      "auth.user is no option",
    ],
    ["a name that is no text", { name: 5 as never }, "name is not usable"],
    ["an unknown option", { conectors: [] } as never, "conectors is no option"],
    [
      "instructions too long",
      { instructions: "x".repeat(1_001) },
      "instructions is not usable: Too big",
    ],
    ["a level that is none", { log: { level: "loud" as never } }, "log.level is not usable"],
    [
      "an unknown option of log",
      { log: { form: "json" } as never },
      "log.form is no option; log can be: level, format, faultTexts",
    ],
    ["a log that is none", { log: "info" as never }, "log is not usable"],
    ["a bearer too short", { auth: { bearer: "x" } }, "auth.bearer needs at least 16"],
    ["a blank bearer", { auth: { bearer: " ".repeat(40) } }, "auth.bearer needs at least 16"],
    [
      "a bearer that is unset",
      { auth: { bearer: undefined as never, tokens: true } },
      "auth.bearer is not usable",
    ],
    ["auth that lets nobody in", { auth: {} }, "auth lets nobody in: give bearer, tokens or oauth"],
    ["auth with tokens off", { auth: { tokens: false } }, "auth lets nobody in"],
    [
      "tokens without a store",
      { auth: { tokens: true } },
      "auth.tokens needs a store: set storage",
    ],
    [
      "an issuer that is unset",
      { auth: { bearer: "correct-horse-battery", oauth: undefined as never } },
      "auth.oauth is not usable",
    ],
    [
      "an issuer in the open",
      { auth: { oauth: { issuer: "http://issuer.example" } } },
      "auth.oauth.issuer must be an https address",
    ],
    ["an address in the open", { publicUrl: "http://a.example" }, "publicUrl must be an https"],
    ["an address with a query", { publicUrl: "https://a.example?b" }, "publicUrl must be an https"],
    ["an address with a name in it", { publicUrl: "https://u:p@a.example" }, "publicUrl must be"],
  ])("G7, A4: %s is refused, naming the option", (_, config, message) => {
    expect(problem(config)).toContain(message);
  });

  test("G7: no executor is refused with the way to get one", () => {
    expect(() => readConfig({ connectors: [] })).toThrow(
      "executor is missing: on Node use listen()",
    );
  });
});
