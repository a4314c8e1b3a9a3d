import { describe, expect, test } from "vitest";
import { ConfigError, readConfig, type ConnectaConfig } from "../server/config.ts";
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
    ["an unknown limit", { execute: { cpu: 1 } as never }, "execute.cpu is no limit"],
    ["a limit of 0", { execute: { cpuMs: 0 } }, "execute.cpuMs must be a whole number above 0"],
    [
      "a stack the interpreter cannot hold",
      { execute: { stackBytes: 1_000_000 } },
      "execute.stackBytes must lie between",
    ],
    ["an unknown option", { conectors: [] } as never, "conectors is no option"],
    [
      "instructions too long",
      { instructions: "x".repeat(1_001) },
      "instructions has 1001 characters",
    ],
    ["a bearer too short", { auth: { bearer: "x" } }, "auth.bearer needs at least 16"],
  ])("G7, A4: %s is refused, naming the option", (_, config, message) => {
    expect(problem(config)).toContain(message);
  });

  test("G7: no executor is refused with the way to get one", () => {
    expect(() => readConfig({ connectors: [] })).toThrow(
      "executor is missing: on Node use listen()",
    );
  });
});
