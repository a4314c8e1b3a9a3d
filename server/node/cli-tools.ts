import { openDesk } from "../access/desk.ts";
import { readConfig } from "../config.ts";
import { openOutbound } from "../shared/outbound.ts";
import { UsageError, type ToolsCommand } from "./cli-command.ts";
import { loadDeployment } from "./cli-deployment.ts";
import { NO_EXECUTOR, write } from "./cli-print.ts";
import { inspect, type Inspection } from "../catalog/inspect.ts";
import { asText } from "./inspect-text.ts";
import { nodeOutbound } from "./outbound.ts";
import { withVault } from "./environment.ts";

/**
 * Prints every tool of a deployment with its class; ends with exit code 1 when a connector could
 * not be loaded.
 */
export async function tools(command: ToolsCommand): Promise<void> {
  const { config, warnings, refused } = await loadDeployment(command);
  // Checked as a server would, though nothing is run here.
  const given = withVault(config, process.env);
  const ready = readConfig({ ...given, executor: config.executor ?? NO_EXECUTOR });
  const { connectors } = ready;
  const outbound = openOutbound(ready, nodeOutbound);
  openDesk(ready, undefined, outbound.fetch);
  for (const warning of warnings) console.error(`connecta: ${warning}`);
  const { connector: only } = command;
  const chosen = connectors.filter(({ id }) => only === undefined || id === only);
  if (chosen.length === 0 && only !== undefined) {
    const ids = connectors.map(({ id }) => id).join(", ");
    throw new UsageError(`There is no connector ${only}; there are: ${ids}.`);
  }
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort()).once("SIGTERM", () => leaving.abort());
  const found = await inspect(chosen, leaving.signal);
  await Promise.all([...connectors, config.executor].map((used) => used?.close?.()));
  await outbound.close?.();
  await write(command.json ? `${JSON.stringify(found, null, 2)}\n` : asText(found));
  const failed = (only === undefined && refused.length > 0) || found.some(isFailed);
  process.exit(failed ? 1 : 0);
}

function isFailed(inspection: Inspection): boolean {
  return !inspection.ok;
}
