import { dirname, join } from "node:path";
import { createLog, LOG_LEVELS, type LogOption } from "../shared/log.ts";
import { UsageError, type ServeCommand } from "./cli-command.ts";
import { tellDev } from "./cli-dev.ts";
import { loadDeployment, opened } from "./cli-deployment.ts";
import { openHostPage, type HostPage } from "./host-page.ts";
import { listen, type Listening } from "./listen.ts";
import { configPath } from "./load-config.ts";
import { whenParentEnds } from "./parent.ts";

const PATIENCE_MS = 500;

/** Serves a deployment until a signal comes; says on stdout where it listens, and nothing else. */
export async function serve(command: ServeCommand): Promise<void> {
  const server = await start(command);
  closeOnSignal(server, command.name === "dev");
  console.log(`listening ${server.url}`);
}

async function start(command: ServeCommand): Promise<Listening> {
  const deployment = await loadDeployment(command);
  const config = { ...deployment.config, log: logFor(command, deployment.config.log) };
  const log = createLog(config.log);
  for (const warning of deployment.warnings) log.write("warn", warning);
  const { port, hostname, metrics, mcpConfigs } = command;
  if (mcpConfigs.length > 0 && config.connectors.length === 0) {
    throw new UsageError(`no server of ${mcpConfigs.join(" and ")} can be used.`);
  }
  const options = { ...(port !== undefined && { port }), ...(hostname && { hostname }), metrics };
  if (command.name === "serve") return opened(await listen(config, options));
  let page: HostPage | undefined;
  const before = async (request: Request) => page?.fetch(request);
  const { auth, ...open } = config;
  // The page has no token to send.
  if (auth) log.write("warn", "dev leaves auth out; only this machine can reach the server.");
  const server = opened(await listen(open, { ...options, before }));
  const host = await openHostPage({
    directory: command.hostPage,
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

/**
 * The config's log with what the command line says on top; under `dev` faults are written in full.
 * @throws UsageError for a form of lines that a function of the config writes
 */
function logFor({ name, logLevel, logFormat }: ServeCommand, log: LogOption = {}): LogOption {
  if (typeof log !== "function") {
    return {
      faultTexts: name === "dev",
      ...log,
      ...(logLevel && { level: logLevel }),
      ...(logFormat && { format: logFormat }),
    };
  }
  if (logFormat) throw new UsageError("--log-format has no use: log is a function of the config.");
  if (!logLevel) return log;
  const wanted = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(logLevel) + 1);
  return (entry) => {
    if (wanted.includes(entry.level)) log(entry);
  };
}

/** Ends on the first signal when everything in flight has; at once on the second. */
function closeOnSignal(server: Listening, isDev: boolean): void {
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
  process.on("SIGTERM", close);
  // A terminal tells every process of the group, and the one that started this passes it on.
  process.on("SIGINT", isDev ? () => undefined : close);
  if (isDev) tellDev(server.port, close);
  // A script runner that is ended does not always tell what it runs.
  if (process.env.npm_lifecycle_event !== undefined) whenParentEnds(close);
}
