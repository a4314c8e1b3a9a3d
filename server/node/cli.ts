import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ConfigError, type ConnectaConfig } from "../config.ts";
import type { Outcome } from "../shared/failure.ts";
import { openHostPage, type HostPage } from "./host-page.ts";
import { listen, type Listening } from "./listen.ts";
import { VERSION } from "../version.ts";
import { configPath, loadConfig } from "./load-config.ts";

const USAGE = `Usage: connecta <command> [options]

  serve    serve the deployment
  dev      the same with the host page: run programs, look at their views

Options
  --config FILE   the deployment (connecta.config.mjs of this folder)
  --port N        port to listen on, 0 for any free one (PORT, else 8787)
  --host NAME     address to listen on (127.0.0.1; any other needs auth)
  --help, --version

SANDBOX_PORT is the second port of dev, where views live (the next free one).`;

interface Command {
  readonly name: "serve" | "dev";
  readonly config: string | undefined;
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly hostname: string | undefined;
}

const PATIENCE_MS = 500;
const PARENT_POLL_MS = 500;

/** A mistake of the person at the command line: one line, exit code 1. */
class UsageError extends Error {}

function readCommand(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Command | "help" | "version" {
  const { values, positionals } = parseCommandLine(argv);
  if (values.help === true) return "help";
  if (values.version === true) return "version";
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

async function start(command: Command): Promise<Listening> {
  const loaded = await loadConfig(command.config);
  if (!loaded.ok) throw new UsageError(loaded.failure.message);
  const { port, hostname } = command;
  const options = { ...(port !== undefined && { port }), ...(hostname && { hostname }) };
  if (command.name === "serve") return opened(await listen(loaded.value, options));
  let page: HostPage | undefined;
  const before = async (request: Request) => page?.fetch(request);
  const server = opened(await listen(forDevelopment(loaded.value), { ...options, before }));
  const host = await openHostPage({
    directory: join(dirname(fileURLToPath(import.meta.url)), "../host"),
    port: server.port,
    hostname: hostname ?? "127.0.0.1",
    programsDirectory: join(dirname(configPath(command.config)), "programs"),
    ...(command.sandboxPort !== undefined && { sandboxPort: command.sandboxPort }),
  });
  if (!host.ok) await server.close();
  page = opened(host);
  return {
    ...server,
    close: () => Promise.all([page?.close(), server.close()]).then(() => undefined),
  };
}

function opened<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new UsageError(outcome.failure.message);
  return outcome.value;
}

/** The page has no token to send, and only this machine reaches it; faults are shown in full. */
function forDevelopment({ auth, ...config }: ConnectaConfig): ConnectaConfig {
  if (auth)
    console.error("connecta dev: auth is left out; only this machine can reach the server.");
  return {
    onError: (error, what) => console.error(`connecta: in ${what}: ${error.stack ?? error.name}`),
    ...config,
  };
}

/** Ends on the first signal when everything in flight has; at once on the second. */
function closeOnSignal(server: Listening): void {
  let closing = false;
  const close = () => {
    if (closing) process.exit(1);
    closing = true;
    const late = setTimeout(() => {
      console.error("connecta: waiting for requests in flight; a second signal ends at once.");
    }, PATIENCE_MS);
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
    late.unref();
  };
  process.on("SIGINT", close);
  process.on("SIGTERM", close);
  closeWithParent(close);
}

/** A script runner that is ended does not always tell what it runs: notice that it is gone. */
function closeWithParent(close: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    close();
  }, PARENT_POLL_MS);
  watch.unref();
}

try {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command === "help") {
    console.log(USAGE);
  } else if (command === "version") {
    console.log(VERSION);
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
