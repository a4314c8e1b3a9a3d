import {
  api,
  createConnecta,
  type Connecta,
  type ConnectaConfig,
  type Connector,
  type Tool,
} from "../../server/index.ts";
import { until } from "../suites/executor/state.ts";
import { probe } from "../suites/executor/connectors.ts";
import { State } from "../suites/executor/state.ts";

const READ = { readOnlyHint: true } as const;
const ANY = { type: "object" } as const;
const HELLO: Tool = { name: "hello", description: "Greets.", inputSchema: ANY, annotations: READ };

/** A deployment whose requests wait for each other: a tool list comes once somebody opens it. */
export function createShared(config: Omit<ConnectaConfig, "connectors" | "log">): Connecta {
  const state = new State();
  const hall = { loads: 0, isOpen: false };
  const slow: Connector = {
    id: "slow",
    kind: "api",
    identity: () => "slow",
    async listTools({ signal }) {
      hall.loads++;
      await until(() => hall.isOpen, signal);
      return { ok: true, value: [HELLO] };
    },
    callTool: () => Promise.resolve({ ok: true, value: { kind: "value", value: "hello" } }),
  };
  const door = api({
    id: "door",
    tools: {
      open: {
        description: "Lets the tool list come.",
        inputSchema: ANY,
        annotations: READ,
        handler: () => (hall.isOpen = true),
      },
      loads: {
        description: "How often the tool list was asked for.",
        inputSchema: ANY,
        annotations: READ,
        handler: () => hall.loads,
      },
    },
  });
  const connectors = [slow, door, probe(state)];
  return createConnecta({ ...config, connectors, log: () => undefined });
}
