import { parseArgs } from "node:util";

export const USAGE = `Usage: connecta <command> [options]

  serve              serve the deployment
  dev                the same with the host page: run programs, look at their views
  tools [CONNECTOR]  list every tool with its class and why, those to look at first

Options
  --config FILE      the deployment (connecta.config.mjs of this folder)
  --mcp-config FILE  servers of another client's file, besides or instead; may be repeated
  --port N           port to listen on, 0 for any free one (PORT, else 8787)
  --host NAME        address to listen on (127.0.0.1; any other needs auth)
  --json             tools as JSON
  --help, --version

SANDBOX_PORT is the second port of dev, where views live (the next free one).`;

/** Where a deployment is written down. */
export interface Sources {
  readonly config: string | undefined;
  readonly mcpConfigs: readonly string[];
}

/** A server to run. */
export interface ServeCommand extends Sources {
  readonly name: "serve" | "dev";
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly hostname: string | undefined;
}

/** A list of tools to print. */
export interface ToolsCommand extends Sources {
  readonly name: "tools";
  /** The one connector to list; all of them when omitted. */
  readonly connector: string | undefined;
  readonly json: boolean;
}

/** What somebody at the command line wants. */
export type Command = ServeCommand | ToolsCommand | { readonly name: "help" | "version" };

/** A mistake of the person at the command line: one line, exit code 1. */
export class UsageError extends Error {}

/** Options that one command alone understands. */
const ONLY = {
  port: ["serve", "dev"],
  host: ["serve", "dev"],
  json: ["tools"],
} as const satisfies Record<string, readonly string[]>;

/**
 * Reads a command line.
 * @throws UsageError with one line for the person who wrote it
 */
export function readCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help === true) return { name: "help" };
  if (values.version === true) return { name: "version" };
  const [name, ...rest] = positionals;
  const most = name === "tools" ? 1 : 0;
  if ((name !== "serve" && name !== "dev" && name !== "tools") || rest.length > most) {
    throw new UsageError(
      "Say one command: connecta serve, or connecta dev, or connecta tools (--help lists options).",
    );
  }
  for (const [option, commands] of Object.entries(ONLY)) {
    if (values[option as keyof typeof ONLY] === undefined || commands.some((one) => one === name)) {
      continue;
    }
    throw new UsageError(`connecta ${name} takes no --${option} (--help lists the options).`);
  }
  const sources = { config: values.config, mcpConfigs: values["mcp-config"] ?? [] };
  if (name === "tools") return { name, connector: rest[0], json: values.json ?? false, ...sources };
  return {
    name,
    ...sources,
    port: readPort(values.port === undefined ? "PORT" : "--port", values.port ?? env.PORT),
    sandboxPort: readPort("SANDBOX_PORT", env.SANDBOX_PORT),
    hostname: values.host,
  };
}

function parseCommandLine(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: "string" },
        "mcp-config": { type: "string", multiple: true },
        port: { type: "string" },
        host: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split(". ");
    throw new UsageError(`${sentence} (--help lists the options).`);
  }
}

function readPort(option: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${option} must be a port number between 0 and 65535.`);
}
