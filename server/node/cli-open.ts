import { type Sources } from "./cli-command.ts";
import { loadDeployment } from "./cli-deployment.ts";
import { openConnecta } from "./open.ts";
import type { Connecta } from "../index.ts";

/**
 * Assembles the deployment that the command line names, for one piece of work, and ends the process
 * with the exit code that this comes to. A signal ends it with 1.
 */
export async function withConnecta(
  sources: Sources,
  work: (connecta: Connecta) => Promise<number>,
): Promise<never> {
  const { config, warnings } = await loadDeployment(sources);
  for (const warning of warnings) console.error(`connecta: ${warning}`);
  const connecta = openConnecta(config);
  const leave = () => void connecta.close().finally(() => process.exit(1));
  process.once("SIGINT", leave).once("SIGTERM", leave);
  try {
    process.exitCode = await work(connecta);
  } finally {
    await connecta.close();
  }
  // A config may have started what would keep the process.
  process.exit();
}
