// What a TypeScript user of the core writes: no types of Node are installed where this compiles.
import {
  api,
  ConfigError,
  createConnecta,
  fromMcpServers,
  memoryStorage,
  remoteMcp,
  tool,
  ToolError,
  type Connecta,
  type ConnectaConfig,
  type Connector,
  type Executor,
  type Failure,
} from "connecta";
import { z } from "zod";

const crm: Connector = api({
  id: "crm",
  tools: {
    get_record: tool({
      description: "Get one record by id.",
      inputSchema: z.object({ id: z.string() }),
      annotations: { readOnlyHint: true },
      handler: ({ id }, { signal }) => {
        const known: string = id;
        if (signal.aborted) throw new ToolError("The caller is gone.");
        return { id: known };
      },
    }),
  },
});

// @ts-expect-error an id is a text; were the declarations not found, this would be no error
api({ id: 7, tools: {} });

/** @param executor that of the runtime */
export function deploy(executor: Executor): Connecta {
  const config: ConnectaConfig = {
    executor,
    connectors: [crm, remoteMcp({ id: "far", url: "https://mcp.example.com/mcp" })],
    storage: memoryStorage(),
  };
  return createConnecta(config);
}

/** The code of a failure, which is one of a closed list. */
export function isTimeout({ code }: Failure): boolean {
  return code === "timeout";
}

/** How many connectors a client's file holds. */
export function count(file: string): number {
  return fromMcpServers(file).connectors.length;
}

/** Whether a start failed for its config. */
export function isMistake(error: unknown): error is ConfigError {
  return error instanceof ConfigError;
}
