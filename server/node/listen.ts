import { createAdaptorServer } from "@hono/node-server";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectaConfig } from "../config.ts";
import { createConnecta } from "../index.ts";
import { quickjsExecutor } from "../sandbox/pool.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { endedWithin } from "../shared/joining.ts";
import { LIMITS } from "../shared/limits.ts";
import { isLoopback } from "../shared/loopback.ts";
import { Answers } from "./answers.ts";
import type { Peer } from "./metrics-page.ts";
import { nodeOutbound } from "./outbound.ts";
import { SourceThread } from "./source-thread.ts";
import { withOperator, withVault } from "./environment.ts";

/** Where and how to listen. */
export interface ListenOptions {
  /** 8787 when omitted, 0 for any free port. */
  readonly port?: number;
  /** `127.0.0.1` when omitted; another address needs `auth`. */
  readonly hostname?: string;
  /** Asked first for every request; answers `undefined` for what is not its own. */
  readonly before?: (request: Request) => Promise<Response | undefined>;
  /** Answers `/metrics` for Prometheus, with the deployment's auth or, without it, on loopback. */
  readonly metrics?: boolean;
}

/** A server that listens. */
export interface Listening {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Stops accepting, lets requests in flight end within the drain time, then closes everything. */
  close(): Promise<void>;
}

const DEFAULT_PORT = 8787;
const SWEEP_MS = 50;

/**
 * Serves a deployment on Node with the QuickJS sandbox.
 * @returns `unavailable` for a port in use or an address that must not be opened without auth
 * @throws ConfigError for a structural mistake in the config
 */
export async function listen(
  config: ConnectaConfig,
  options: ListenOptions = {},
): Promise<Outcome<Listening>> {
  const { port = DEFAULT_PORT, hostname = "127.0.0.1", before } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return fail("invalid_args", `port ${port} must be a whole number between 0 and 65535.`);
  }
  if (!isLoopback(hostname) && !config.auth) {
    return fail(
      "unavailable",
      `${hostname} is not a loopback address: set auth, such as { bearer }, before opening it to others.`,
    );
  }
  const executor = config.executor ?? quickjsExecutor();
  const sources = new SourceThread();
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  let boundPort = port;
  const addresses = isLoopback(hostname) ? () => addressesOf(host, boundPort) : undefined;
  const counting = options.metrics ? await loadMetrics() : undefined;
  const measures = counting && new counting.Metrics(executor);
  const answers = new Answers();
  const onAnswerEnd = answers.onEnd.bind(answers);
  const lent = { sources, measures, addresses, onAnswerEnd, outbound: nodeOutbound };
  const sealed = withOperator(withVault(config, process.env), process.env);
  const connecta = createConnecta({ ...withOwnName(sealed, hostname), executor }, lent);
  const page = measures && counting.metricsPage(measures, connecta.authenticate);
  const answer = firstOf([page, before, (request) => connecta.fetch(request)]);
  const server = createAdaptorServer({
    fetch: (request, env) => {
      answers.follow(request, env.outgoing);
      return answer(request, env);
    },
  }) as Server;
  const closeAll = async () => {
    answers.close();
    await connecta.close();
    measures?.close();
  };
  const bound = await bind(server, port, hostname);
  if (!bound.ok) {
    await closeAll();
    return bound;
  }
  boundPort = bound.value;
  return ok({
    url: `http://${host}:${bound.value}`,
    port: bound.value,
    close: () => close(server, closeAll),
  });
}

type Answer = (request: Request, env: Peer) => Promise<Response | undefined>;

/** Asks one after the other; the last one always answers. */
function firstOf(answers: readonly (Answer | undefined)[]) {
  const asked = answers.filter((answer) => answer !== undefined);
  const [only] = asked;
  if (asked.length === 1 && only) return only;
  return async (request: Request, env: Peer) => {
    for (const answer of asked) {
      const response = await answer(request, env);
      if (response) return response;
    }
    return undefined;
  };
}

/** What counts is loaded by deployments alone that ask for it. */
async function loadMetrics() {
  const [{ Metrics }, { metricsPage }] = await Promise.all([
    import("./metrics.ts"),
    import("./metrics-page.ts"),
  ]);
  return { Metrics, metricsPage };
}

/** A loopback address is reached by its usual name as well. */
function addressesOf(host: string, port: number): readonly string[] {
  return [...new Set([host, "localhost"])].map((name) => `http://${name}:${port}`);
}

/** A loopback address of another name answers under that name too. */
function withOwnName(config: ConnectaConfig, hostname: string): ConnectaConfig {
  if (config.auth || config.http?.allowedHosts) return config;
  const allowedHosts = [...new Set(["localhost", "127.0.0.1", "[::1]", hostname])];
  return { ...config, http: { ...config.http, allowedHosts } };
}

function bind(server: Server, port: number, hostname: string): Promise<Outcome<number>> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EADDRINUSE"
          ? `Port ${port} is in use: choose another with --port or PORT.`
          : `Cannot listen on ${hostname}:${port} (${error.code ?? error.message}).`;
      resolve(fail("unavailable", reason));
    });
    server.listen(port, hostname, () => resolve(ok((server.address() as AddressInfo).port)));
  });
}

async function close(server: Server, closeConnecta: () => Promise<void>): Promise<void> {
  const drained = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection that was busy becomes idle with its answer; nothing else closes it then.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await endedWithin(drained, LIMITS.drainMs.value);
  clearInterval(sweep);
  server.closeAllConnections();
  await closeConnecta();
}
