// What hostile programs are run against: two sandbox processes, and tools that wait, answer and count.
import { api } from "connecta";
import { quickjsExecutor } from "connecta/node";
import { connectors } from "./connectors.mjs";

const executor = quickjsExecutor({ processes: 2 });

const sandbox = api({
  id: "sandbox",
  description: "The processes that programs run in",
  tools: {
    ready: {
      description: "Their ids, once every one runs at full speed.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: async () => {
        await executor.warm();
        return executor.pids;
      },
    },
  },
});

export default {
  name: "hostile",
  connectors: [...connectors(api), sandbox],
  executor,
  // Witnesses wait for as long as it takes; everything else keeps its default.
  execute: { hostCallTimeoutMs: 100_000, timeoutMs: 100_000 },
  // Integrations fail here on purpose; a fault of the gateway itself still shows in its answers.
  log: () => {},
};
