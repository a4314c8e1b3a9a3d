import { Console } from "node:console";
import { Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { LIMITS } from "../shared/limits.ts";
import { createLog } from "../shared/log.ts";
import { UsageError, type Sources } from "./cli-command.ts";
import { loadDeployment } from "./cli-deployment.ts";
import { openConnecta } from "./open.ts";
import { whenParentEnds } from "./parent.ts";

/** The envelope around a body of the largest size. */
const FRAME_BYTES = 64 * 1024;

/**
 * Serves a deployment to the process that started this one, over stdin and stdout, until that ends
 * or closes stdin.
 */
export async function stdio(sources: Sources): Promise<void> {
  const output = keepStdout();
  const { config, warnings } = await loadDeployment(sources);
  const log = createLog(config.log);
  for (const warning of warnings) log.write("warn", warning);
  if (sources.mcpConfigs.length > 0 && config.connectors.length === 0) {
    throw new UsageError(`no server of ${sources.mcpConfigs.join(" and ")} can be used.`);
  }
  const connecta = openConnecta(config);
  const maxBufferSize = LIMITS.requestBodyBytes.value + FRAME_BYTES;
  const transport = new StdioServerTransport(process.stdin, output, { maxBufferSize });
  const served = serveStdio(() => connecta.connection() as Server, {
    transport,
    onerror: (error) => log.fault(error, "a message"),
  });
  let closing = false;
  const close = () => {
    if (closing) return;
    closing = true;
    // Whoever waits for the end must not wait for a connector that does not end.
    setTimeout(() => process.exit(0), LIMITS.drainMs.value).unref();
    const ends = served.close().then(() => connecta.close());
    ends.then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.stdin.once("end", close).once("close", close).once("error", close);
  process.stdout.on("error", close);
  process.on("SIGINT", close).on("SIGTERM", close);
  whenParentEnds(close);
}

/**
 * Keeps stdout for the protocol: what anybody else writes there goes to stderr from now on.
 * @returns where the protocol is written
 */
function keepStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  globalThis.console = new Console(stderr, stderr);
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, encoding, done) => void write(chunk, encoding, done),
  });
}
