import { createInbound, type AuthOptions } from "./access/inbound/inbound.ts";
import { isSafeAddress } from "./access/inbound/oauth-options.ts";
import { Tokens } from "./access/inbound/tokens.ts";
import type { Authenticate, Report } from "./access/inbound/verdict.ts";
import { readVaultKeys, type VaultOptions } from "./access/keys.ts";
import { OperatorDoor, type OperatorOptions } from "./access/operator.ts";
import {
  checkActivity,
  checkConnectors,
  checkOptions,
  checkStorage,
  ConfigError,
} from "./config-form.ts";
import { ENDPOINT, ProtectedResource } from "./http/protected-resource.ts";
import type { ActivityStore } from "./shared/activity.ts";
import type { Connector, Executor } from "./shared/contracts.ts";
import { memoryActivity } from "./shared/drivers/activity-memory.ts";
import {
  defaultExecuteLimits,
  defaultHttpLimits,
  LIMITS,
  type ExecuteLimits,
  type HttpLimits,
} from "./shared/limits.ts";
import { createLog, type Log, type LogOption } from "./shared/log.ts";
import { isAllowable, OutboundRules } from "./shared/outbound.ts";
import type { Storage } from "./shared/storage.ts";

export { ConfigError } from "./config-form.ts";

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
  readonly auth?: AuthOptions;
  /** Opens `/operator` to whoever has its secret; on Node `CONNECTA_OPERATOR_SECRET` when omitted. */
  readonly operator?: OperatorOptions;
  /**
   * Where clients reach this deployment, without `/mcp`: `https://mcp.example.com`, or with the path
   * that a proxy puts before it. `auth.oauth` needs it wherever the server is not on loopback.
   */
  readonly publicUrl?: string;
  /** Who may ask, and how much at once, by the names of {@link HttpLimits}. */
  readonly http?: Partial<HttpLimits> & {
    readonly allowedHosts?: readonly string[];
    readonly allowedOrigins?: readonly string[];
  };
  /** Where connectors may send requests. */
  readonly outbound?: {
    /**
     * Host names, addresses and ranges (`169.254.10.0/24`) that may be asked although they are
     * link-local, of cloud metadata or reserved. A name is allowed with whatever it leads to.
     */
    readonly allow?: readonly string[];
  };
  /**
   * Where tool lists and credentials survive a restart, such as `sqliteStorage`; closed with the
   * deployment.
   */
  readonly storage?: Storage;
  /** What credentials in the store are sealed with; on Node `CONNECTA_VAULT_KEY` when omitted. */
  readonly vault?: VaultOptions;
  /**
   * Where every call is recorded, such as `fileActivity`; the newest thousand in memory when
   * omitted, `false` for none. Closed with the deployment.
   */
  readonly activity?: ActivityStore | false;
  /** What is written to stderr, or a function that is given every entry; see {@link LogOption}. */
  readonly log?: LogOption;
}

/** A config that was checked, with every default filled in. */
export interface ReadyConfig {
  readonly name: string;
  readonly instructions: string | undefined;
  readonly connectors: readonly Connector[];
  readonly executor: Executor;
  readonly limits: ExecuteLimits;
  readonly httpLimits: HttpLimits;
  readonly callTimeoutMs: number;
  readonly authenticate: Authenticate | undefined;
  /** Where callers sign in, when they can. */
  readonly resource: ProtectedResource | undefined;
  /** The way to the operator page, where there is one. */
  readonly operator: OperatorDoor | undefined;
  /** Callers' tokens, where callers have some. */
  readonly tokens: Tokens | undefined;
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[];
  readonly outbound: OutboundRules;
  readonly storage: Storage | undefined;
  readonly activity: ActivityStore | undefined;
  readonly log: Log;
  /** The bytes of the vault's keys, the one to seal with first; none without a vault. */
  readonly vaultKeys: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Checks a deployment's config.
 * @param addresses where the deployment is reached when the config does not say; asked at each use
 * @throws ConfigError for any structural mistake
 */
export function readConfig(
  config: ConnectaConfig,
  addresses: () => readonly string[] = () => [],
): ReadyConfig {
  if (typeof config !== "object" || config === null) {
    throw new ConfigError("The config is not an object: export default { connectors: [...] }.");
  }
  checkOptions(config);
  checkHeaps(config);
  if (!config.executor) {
    throw new ConfigError("executor is missing: on Node use listen(), or pass quickjsExecutor().");
  }
  checkConnectors(config.connectors);
  checkStorage(config.storage);
  checkActivity(config.activity);
  const publicUrl = readPublicUrl(config.publicUrl);
  const log = createLog(config.log);
  const report: Report = (error, what) => log.fault(error, what);
  const reached = publicUrl === undefined ? addresses : () => [publicUrl];
  const vaultKeys = readVault(config);
  return {
    name: config.name ?? "connecta",
    instructions: config.instructions,
    connectors: config.connectors,
    executor: config.executor,
    limits: withDefaults(defaultExecuteLimits(), config.execute ?? {}),
    httpLimits: withDefaults(defaultHttpLimits(), config.http ?? {}),
    callTimeoutMs: config.calls?.timeoutMs ?? LIMITS.callTimeoutMs.value,
    ...readAuth(config, reached, report),
    operator: readOperator(config),
    tokens: config.auth?.tokens && config.storage ? new Tokens(config.storage) : undefined,
    publicUrl,
    allowedHosts: config.http?.allowedHosts,
    allowedOrigins: [
      ...(config.http?.allowedOrigins ?? []),
      // A proxy may ask for us by another name than browsers do; with nobody to check it, it may not.
      ...(publicUrl === undefined || !config.auth ? [] : [new URL(publicUrl).origin]),
    ],
    outbound: readOutbound(config.outbound),
    storage: config.storage,
    activity: config.activity === false ? undefined : (config.activity ?? memoryActivity()),
    log,
    vaultKeys,
  };
}

/** A program that could outgrow its process would be told of a limit that is not its own. */
function checkHeaps({ execute = {} }: Pick<ConnectaConfig, "execute">): void {
  const { heapBytes, processHeapBytes } = withDefaults(defaultExecuteLimits(), execute);
  if (heapBytes <= processHeapBytes) return;
  throw new ConfigError(
    `execute.heapBytes is ${heapBytes}: at most execute.processHeapBytes, now ${processHeapBytes}.`,
  );
}

function readOutbound({ allow = [] }: ConnectaConfig["outbound"] = {}): OutboundRules {
  const unknown = allow.findIndex((entry) => !isAllowable(entry));
  if (unknown === -1) return new OutboundRules(allow);
  throw new ConfigError(
    `outbound.allow[${unknown}] is no host name, no address and no range: write it as ` +
      '"printer.local", "169.254.10.20" or "169.254.10.0/24".',
  );
}

/** The vault's keys; what keeps a credential needs them, and a store. */
function readVault({ connectors, storage, vault }: ConnectaConfig) {
  const keeper = connectors.find(({ credential }) => credential !== undefined)?.id;
  if (keeper !== undefined && storage === undefined) {
    throw new ConfigError(
      `storage is missing: connector ${keeper} keeps a credential; give a store, such as ` +
        'sqliteStorage({ file: "connecta.db" }).',
    );
  }
  if (vault === undefined) {
    if (keeper === undefined) return [];
    throw new ConfigError(
      `vault.key is missing: connector ${keeper} keeps a credential; set CONNECTA_VAULT_KEY to ` +
        "what `connecta credentials key` prints.",
    );
  }
  try {
    return readVaultKeys(vault);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

function readOperator({ operator, auth, storage }: ConnectaConfig): OperatorDoor | undefined {
  if (operator === undefined) return undefined;
  if (operator.secret === auth?.bearer) {
    throw new ConfigError("operator.secret is auth.bearer too: every caller could sign in.");
  }
  try {
    return new OperatorDoor(operator, storage);
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}

function withDefaults<Limits extends object>(defaults: Limits, given: Partial<Limits>): Limits {
  const set = Object.entries(given).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(defaults, name),
  );
  return { ...defaults, ...(Object.fromEntries(set) as Partial<Limits>) };
}

function readPublicUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (isSafeAddress(given) && !/[?#]/.test(given)) return new URL(given).href.replace(/\/+$/, "");
  throw new ConfigError(
    "publicUrl must be an https address without query, such as https://mcp.example.com.",
  );
}

function readAuth(
  { auth, storage, name = "connecta" }: ConnectaConfig,
  addresses: () => readonly string[],
  report: Report,
): Pick<ReadyConfig, "authenticate" | "resource"> {
  if (auth === undefined) return { authenticate: undefined, resource: undefined };
  try {
    const resources = () => addresses().map((address) => address + ENDPOINT);
    const { authenticate, issuers } = createInbound(auth, { storage, resources, report });
    const scopes = issuers[0]?.scopes ?? [];
    const names = issuers.map(({ issuer }) => issuer);
    const options = { issuers: names, scopes, addresses, name };
    const resource = issuers.length > 0 ? new ProtectedResource(options) : undefined;
    return { authenticate, resource };
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error });
  }
}
