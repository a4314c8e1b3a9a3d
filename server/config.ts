import { bearer, type Authenticate } from "./access/bearer.ts";
import { identifier } from "./catalog/identifier.ts";
import type { Connector, Executor } from "./shared/contracts.ts";
import { defaultExecuteLimits, LIMITS, type ExecuteLimits } from "./shared/limits.ts";

/** A deployment: everything that exists, written down once. */
export interface ConnectaConfig {
  /** What clients call this server; `connecta` when omitted. */
  readonly name?: string;
  /** Replaces the instructions that every conversation loads; at most 1,000 characters. */
  readonly instructions?: string;
  readonly connectors: readonly Connector[];
  /** Runs programs; `listen` brings its own, `createConnecta` needs one. */
  readonly executor?: Executor;
  /** Limits of one program, by the names of {@link ExecuteLimits}. */
  readonly execute?: Partial<ExecuteLimits>;
  readonly calls?: {
    /** Deadline of `call_tool` where the caller asks for none, in milliseconds. */
    readonly timeoutMs?: number;
  };
  /** Who may call; without it anyone who reaches the loopback address. */
  readonly auth?: { readonly bearer: string };
  readonly http?: {
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
  };
  /** Told of faults that no caller sees; writes to stderr when omitted. */
  readonly onError?: (error: Error) => void;
}

/** A config that was checked, with every default filled in. */
export interface ReadyConfig {
  readonly name: string;
  readonly instructions: string | undefined;
  readonly connectors: readonly Connector[];
  readonly executor: Executor;
  readonly limits: ExecuteLimits;
  readonly callTimeoutMs: number;
  readonly authenticate: Authenticate | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[];
  readonly onError: (error: Error) => void;
}

/** A mistake in the config; its message names the option and the fix. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const OPTIONS = new Set([
  "name",
  "instructions",
  "connectors",
  "executor",
  "execute",
  "calls",
  "auth",
  "http",
  "onError",
]);
const CONNECTOR_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const RESERVED_GLOBALS = new Set(
  (
    "connecta console globalThis undefined NaN Infinity JSON Math Date Object Array String Number " +
    "Boolean Symbol Promise Proxy Reflect Map Set WeakMap WeakSet Error RegExp BigInt Function " +
    "Intl Atomics Iterator eval isNaN isFinite parseInt parseFloat escape unescape"
  ).split(" "),
);

/**
 * Checks a deployment's config.
 * @throws ConfigError for any structural mistake
 */
export function readConfig(config: ConnectaConfig): ReadyConfig {
  if (typeof config !== "object" || config === null) {
    throw new ConfigError("The config is not an object: export default { connectors: [...] }.");
  }
  const unknown = Object.keys(config).find((key) => !OPTIONS.has(key));
  if (unknown !== undefined) {
    throw new ConfigError(`${unknown} is no option; the options are ${[...OPTIONS].join(", ")}.`);
  }
  if (!config.executor) {
    throw new ConfigError("executor is missing: on Node use listen(), or pass quickjsExecutor().");
  }
  checkConnectors(config.connectors);
  const { instructions } = config;
  if (instructions !== undefined && instructions.length > LIMITS.instructionsChars.value) {
    const max = LIMITS.instructionsChars.value;
    throw new ConfigError(
      `instructions has ${instructions.length} characters, at most ${max} may be.`,
    );
  }
  return {
    name: config.name ?? "connecta",
    instructions,
    connectors: config.connectors,
    executor: config.executor,
    limits: readLimits(config.execute ?? {}),
    callTimeoutMs: positive("calls.timeoutMs", config.calls?.timeoutMs, LIMITS.callTimeoutMs.value),
    authenticate: readAuth(config.auth),
    allowedHosts: config.http?.allowedHosts,
    allowedOrigins: config.http?.allowedOrigins ?? [],
    onError: config.onError ?? ((error) => console.error(error.message)),
  };
}

function checkConnectors(connectors: unknown): asserts connectors is readonly Connector[] {
  if (!Array.isArray(connectors)) {
    throw new ConfigError("connectors is missing: give a list, such as [api({ ... })].");
  }
  const byId = new Set<string>();
  const byGlobal = new Map<string, string>();
  for (const [index, connector] of (connectors as Connector[]).entries()) {
    const at = `connectors[${index}]`;
    if (typeof connector?.callTool !== "function" || typeof connector.listTools !== "function") {
      throw new ConfigError(`${at} is no connector: make one with api().`);
    }
    const { id } = connector;
    if (typeof id !== "string" || !CONNECTOR_ID.test(id)) {
      throw new ConfigError(
        `${at}.id ${JSON.stringify(id)} is unusable: a letter, then up to 63 letters, digits, _ or -.`,
      );
    }
    if (byId.has(id)) throw new ConfigError(`${at}.id ${id} is used twice: rename one of them.`);
    const global = identifier(id);
    const other = byGlobal.get(global);
    if (other !== undefined) {
      throw new ConfigError(
        `${at}.id ${id} and ${other} share the name ${global} in programs: rename one.`,
      );
    }
    if (RESERVED_GLOBALS.has(global)) {
      throw new ConfigError(`${at}.id ${id} is a name that programs already have: rename it.`);
    }
    byId.add(id);
    byGlobal.set(global, id);
  }
}

function readLimits(given: Partial<ExecuteLimits>): ExecuteLimits {
  const limits = { ...defaultExecuteLimits() } as Record<string, number>;
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(limits, name)) {
      throw new ConfigError(`execute.${name} is no limit; see ${Object.keys(limits).join(", ")}.`);
    }
    limits[name] = positive(`execute.${name}`, value, limits[name] ?? 1);
  }
  const ready = limits as ExecuteLimits;
  if (ready.stackBytes < 64 * 1024 || ready.stackBytes > 256 * 1024) {
    throw new ConfigError("execute.stackBytes must lie between 65536 and 262144.");
  }
  return ready;
}

function positive(option: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ConfigError(`${option} must be a whole number above 0.`);
}

function readAuth(auth: ConnectaConfig["auth"]): Authenticate | undefined {
  if (auth === undefined) return undefined;
  try {
    return bearer(auth.bearer);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}
