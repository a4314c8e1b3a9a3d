import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ConfigError } from "../config.ts";
import { openHostPage, type HostPage } from "./host-page.ts";
import { listen, type Listening } from "./listen.ts";
import { loadConfig } from "./load-config.ts";

const USAGE = `Usage: connecta <command> [options]

  serve    serve the deployment
  dev      the same with the host page: run programs, look at their views

Options
  --config FILE   the deployment (connecta.config.mjs of this folder)
  --port N        port to listen on, 0 for any free one (PORT, else 8787)
  --host NAME     address to listen on (127.0.0.1; any other needs auth)
  --help          this text

SANDBOX_PORT is the second port of dev, where views live (the next free one).`;

interface Command {
  readonly name: "serve" | "dev";
  readonly config: string | undefined;
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly hostname: string | undefined;
}

/** A mistake of the person at the command line: one line, exit code 1. */
class UsageError extends Error {}

function readCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Command | "help" {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help === true) return "help";
  const [name, ...rest] = positionals;
  if ((name !== "serve" && name !== "dev") || rest.length > 0) {
    throw new UsageError(
      "Say one command: connecta serve, or connecta dev (--help lists options).",
    );
  }
  return {
    name,
    config: values.config,
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
        port: { type: "string" },
        host: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message} (--help lists the options).`);
  }
}

function readPort(option: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${option} must be a port number between 0 and 65535.`);
}

async function start(command: Command): Promise<Listening> {
  const config = await loadConfig(command.config);
  if (!config.ok) throw new UsageError(config.failure.message);
  let page: HostPage | undefined;
  const server = await listen(config.value, {
    ...(command.port !== undefined && { port: command.port }),
    ...(command.hostname !== undefined && { hostname: command.hostname }),
    ...(command.name === "dev" && { before: async (request) => page?.fetch(request) }),
  });
  if (!server.ok) throw new UsageError(server.failure.message);
  if (command.name === "serve") return server.value;
  const opened = await openHostPage({
    directory: join(dirname(fileURLToPath(import.meta.url)), "../host"),
    port: server.value.port,
    hostname: command.hostname ?? "127.0.0.1",
    programsDirectory: join(dirname(resolve(command.config ?? ".")), "programs"),
    ...(command.sandboxPort !== undefined && { sandboxPort: command.sandboxPort }),
  });
  if (!opened.ok) {
    await server.value.close();
    throw new UsageError(opened.failure.message);
  }
  page = opened.value;
  return {
    ...server.value,
    close: async () => {
      await opened.value.close();
      await server.value.close();
    },
  };
}

/** Ends on the first signal when everything in flight has; at once on the second. */
function closeOnSignal(server: Listening): void {
  let closing = false;
  const onSignal = () => {
    if (closing) process.exit(1);
    closing = true;
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}

try {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command === "help") {
    console.log(USAGE);
  } else {
    const server = await start(command);
    closeOnSignal(server);
    console.log(`listening ${server.url}`);
  }
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ConfigError)) throw error;
  console.error(`connecta: ${error.message}`);
  process.exit(1);
}
