import { openDesk, type CredentialDesk } from "../access/desk.ts";
import { readConfig, type ReadyConfig } from "../config.ts";
import { openOutbound } from "../shared/outbound.ts";
import { UsageError, type Sources } from "./cli-command.ts";
import { loadDeployment } from "./cli-deployment.ts";
import { NO_EXECUTOR } from "./cli-print.ts";
import { withVault } from "./environment.ts";
import { nodeOutbound } from "./outbound.ts";

/** A deployment that was checked as a server would, for commands that run no program. */
export interface Ready {
  readonly config: ReadyConfig;
  readonly desk: CredentialDesk | undefined;
  /** Servers of other clients' files that are not there. */
  readonly refused: readonly string[];
  /** Ends with the first signal. */
  readonly signal: AbortSignal;
  close(): Promise<void>;
}

/**
 * Loads and checks a deployment; warnings go to stderr.
 * @throws UsageError, ConfigError
 */
export async function readyDeployment(sources: Sources): Promise<Ready> {
  const { config, warnings, refused } = await loadDeployment(sources);
  const given = withVault(config, process.env);
  const ready = readConfig({ ...given, executor: config.executor ?? NO_EXECUTOR });
  const outbound = openOutbound(ready, nodeOutbound);
  const desk = openDesk(ready, undefined, outbound.fetch);
  for (const warning of warnings) console.error(`connecta: ${warning}`);
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort()).once("SIGTERM", () => leaving.abort());
  const used = [...ready.connectors, config.executor, ready.storage];
  return {
    config: ready,
    desk,
    refused,
    signal: leaving.signal,
    async close() {
      await Promise.all(used.map((one) => one?.close?.()));
      await outbound.close?.();
    },
  };
}

/** @throws UsageError for an id that no connector has, naming those there are */
export function checkConnector(only: string | undefined, { connectors }: ReadyConfig): void {
  if (only === undefined || connectors.some(({ id }) => id === only)) return;
  const ids = connectors.map(({ id }) => id).join(", ");
  throw new UsageError(`There is no connector ${only}; there are: ${ids}.`);
}
