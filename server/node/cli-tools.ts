import type { ToolsCommand } from "./cli-command.ts";
import { write } from "./cli-print.ts";
import { checkConnector, readyDeployment } from "./cli-ready.ts";
import { inspect, type Inspection } from "../catalog/inspect.ts";
import { asText } from "./inspect-text.ts";

/**
 * Prints every tool of a deployment with its class; ends with exit code 1 when a connector could
 * not be loaded.
 */
export async function tools({ connector: only, json, ...sources }: ToolsCommand): Promise<void> {
  const { config, refused, signal, close } = await readyDeployment(sources);
  checkConnector(only, config);
  const chosen = config.connectors.filter(({ id }) => only === undefined || id === only);
  const found = await inspect(chosen, signal);
  await close();
  await write(json ? `${JSON.stringify(found, null, 2)}\n` : asText(found));
  const failed = (only === undefined && refused.length > 0) || found.some(isFailed);
  process.exit(failed ? 1 : 0);
}

function isFailed(inspection: Inspection): boolean {
  return !inspection.ok;
}
