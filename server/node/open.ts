import type { ConnectaConfig } from "../config.ts";
import { createConnecta, type Connecta } from "../index.ts";
import { quickjsExecutor } from "../sandbox/pool.ts";
import { SourceThread } from "./source-thread.ts";
import { withVault } from "./environment.ts";
import { nodeOutbound } from "./outbound.ts";

/**
 * Assembles a deployment for who started this process: without auth, since that one could read
 * every secret of it as well.
 * @throws ConfigError for a structural mistake in the config
 */
export function openConnecta(config: ConnectaConfig): Connecta {
  const { auth: _, ...open } = withVault(config, process.env);
  const executor = config.executor ?? quickjsExecutor();
  const lent = { sources: new SourceThread(), outbound: nodeOutbound };
  // Requests are made in this process alone, under this name.
  const http = { ...open.http, allowedHosts: ["localhost"] };
  return createConnecta({ ...open, http, executor }, lent);
}
