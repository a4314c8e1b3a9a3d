import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConnectaConfig } from "../config.ts";
import { Notice } from "../shared/notice.ts";
import { UsageError, type ServeCommand } from "./cli-command.ts";
import { loadDeployment, opened } from "./cli-deployment.ts";
import { openHostPage, type HostPage } from "./host-page.ts";
import { listen, type Listening } from "./listen.ts";
import { configPath } from "./load-config.ts";

const PATIENCE_MS = 500;
const PARENT_POLL_MS = 500;

/** Serves a deployment until a signal comes; says on stdout where it listens, and nothing else. */
export async function serve(command: ServeCommand): Promise<void> {
  const server = await start(command);
  closeOnSignal(server);
  console.log(`listening ${server.url}`);
}

async function start(command: ServeCommand): Promise<Listening> {
  const { config, warnings } = await loadDeployment(command);
  for (const warning of warnings) console.error(`connecta: ${warning}`);
  const { port, hostname, mcpConfigs } = command;
  if (mcpConfigs.length > 0 && config.connectors.length === 0) {
    throw new UsageError(`no server of ${mcpConfigs.join(" and ")} can be used.`);
  }
  const options = { ...(port !== undefined && { port }), ...(hostname && { hostname }) };
  if (command.name === "serve") return opened(await listen(config, options));
  let page: HostPage | undefined;
  const before = async (request: Request) => page?.fetch(request);
  const server = opened(await listen(forDevelopment(config), { ...options, before }));
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

/** The page has no token to send, and only this machine reaches it; faults are shown in full. */
function forDevelopment({ auth, ...config }: ConnectaConfig): ConnectaConfig {
  if (auth)
    console.error("connecta dev: auth is left out; only this machine can reach the server.");
  return {
    onError: (error, what) => {
      const text = `in ${what}: ${error.stack ?? error.name}`;
      console.error(`connecta: ${error instanceof Notice ? error.message : text}`);
    },
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
