import { remoteMcp } from "../remote/remote.ts";
import { connectorsOf, type Imported, type ImportOptions } from "./from-mcp-servers.ts";

/**
 * Makes connectors of the servers on the network that a client's file lists. References are filled
 * in from `options` alone; servers that would have to be started are refused with a warning.
 * @param file its text, comments included, or what its JSON holds
 * @throws TypeError in one sentence when it lists no servers
 */
export function fromMcpServers(file: unknown, options: ImportOptions = {}): Imported {
  return connectorsOf(file, { remoteMcp }, options);
}
