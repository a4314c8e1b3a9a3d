import { existsSync } from "node:fs";
import type { ConnectaConfig } from "../config.ts";
import type { Connector } from "../shared/contracts.ts";
import type { Outcome } from "../shared/failure.ts";
import { UsageError, type Sources } from "./cli-command.ts";
import { configPath, loadConfig } from "./load-config.ts";

/** A deployment as the command line names it. */
export interface Deployment {
  readonly config: ConnectaConfig;
  /** Sentences about servers of other clients' files, for the operator. */
  readonly warnings: readonly string[];
  /** Servers that those files name and that are not there, by their names. */
  readonly refused: readonly string[];
}

/**
 * Loads a config file and the servers of other clients' files. With those, the config file of the
 * working directory is used when there is one; without, it must be there.
 * @throws UsageError with one line that names the file
 */
export async function loadDeployment({ config: file, mcpConfigs }: Sources): Promise<Deployment> {
  const isBare = file === undefined && mcpConfigs.length > 0 && !existsSync(configPath());
  const config = isBare ? { connectors: [] } : opened(await loadConfig(file));
  // What is no list is left for the config's own check, which says so.
  if (!Array.isArray(config.connectors)) return { config, warnings: [], refused: [] };
  const connectors: Connector[] = [...config.connectors];
  const warnings: string[] = [];
  const refused: string[] = [];
  for (const mcpConfig of mcpConfigs) {
    // Most deployments start without what this needs.
    const { loadMcpConfig } = await import("./mcp-config.ts");
    const taken = connectors.map((connector) => String(connector?.id));
    const imported = opened(await loadMcpConfig(mcpConfig, taken));
    connectors.push(...imported.connectors);
    warnings.push(...imported.warnings.map(({ message }) => `${mcpConfig}: ${message}`));
    refused.push(...imported.warnings.filter((one) => one.refused).map(({ server }) => server));
  }
  return { config: { ...config, connectors }, warnings, refused };
}

/** The value of an outcome; its failure is a mistake of the person at the command line. */
export function opened<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new UsageError(outcome.failure.message);
  return outcome.value;
}
