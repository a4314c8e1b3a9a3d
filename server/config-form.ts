import { z } from "zod";
import type { ActivityStore } from "./shared/activity.ts";
import { callLimitsProblem } from "./shared/call-limits.ts";
import { isConnectorId, isReserved } from "./shared/connector-id.ts";
import type { Connector } from "./shared/contracts.ts";
import { identifier } from "./shared/identifier.ts";
import { EXECUTE_LIMITS, HTTP_LIMITS, LIMITS } from "./shared/limits.ts";
import { LOG_FORMATS, LOG_LEVELS } from "./shared/log.ts";
import { policyProblem } from "./shared/policy.ts";
import type { Storage } from "./shared/storage.ts";

/** A mistake in the config; its message names the option and the fix. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Less does not hold the program's own surroundings. */
const MIN_HEAP_BYTES = 2 * 1024 * 1024;

const names = z.array(z.string().min(1));
/** Timers take no more; as bytes or counts it is no bound at all. */
const limit = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .optional();

function optionsOf<K extends string>(table: Readonly<Record<K, unknown>>) {
  return Object.fromEntries(Object.keys(table).map((name) => [name, limit])) as Record<
    K,
    typeof limit
  >;
}

/** Everything but connectors and executor, which are objects with behaviour. */
const OPTIONS = z.strictObject({
  name: z.string().min(1).max(128).optional(),
  instructions: z.string().max(LIMITS.instructionsChars.value).optional(),
  connectors: z.unknown().optional(),
  executor: z.unknown().optional(),
  execute: z
    .strictObject({
      ...optionsOf(EXECUTE_LIMITS),
      heapBytes: z.int().min(MIN_HEAP_BYTES).optional(),
      stackBytes: z
        .int()
        .min(64 * 1024)
        .max(256 * 1024)
        .optional(),
    })
    .optional(),
  calls: z
    .strictObject({ timeoutMs: z.int().min(1).max(LIMITS.maxCallTimeoutMs.value).optional() })
    .optional(),
  auth: z
    .strictObject({
      bearer: z.string().exactOptional(),
      tokens: z.boolean().exactOptional(),
      oauth: z
        .unknown()
        .refine((given) => given !== undefined, "it is undefined")
        .exactOptional(),
    })
    .optional(),
  operator: z.strictObject({ secret: z.string() }).optional(),
  publicUrl: z.string().optional(),
  http: z
    .strictObject({
      allowedHosts: names.optional(),
      allowedOrigins: names.optional(),
      ...optionsOf(HTTP_LIMITS),
      maxQueuedRequests: z.int().min(0).optional(),
    })
    .optional(),
  outbound: z.strictObject({ allow: names.optional() }).optional(),
  storage: z.unknown().optional(),
  activity: z.unknown().optional(),
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).optional(),
      format: z.enum(LOG_FORMATS).optional(),
      faultTexts: z.boolean().optional(),
    })
    .optional(),
  vault: z
    .strictObject({ key: z.string(), previousKeys: z.array(z.string()).optional() })
    .optional(),
});

/**
 * Refuses what is no option or has the wrong form.
 * @throws ConfigError naming the place
 */
export function checkOptions(config: object & { readonly log?: unknown }): void {
  const { log, ...others } = config;
  const { error } = OPTIONS.safeParse(typeof log === "function" ? others : config);
  const [issue] = error?.issues ?? [];
  if (!issue) return;
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const place = at === "" ? OPTIONS : (OPTIONS.shape as Record<string, unknown>)[at];
    const known = place instanceof z.ZodOptional ? place.unwrap() : place;
    const options = known instanceof z.ZodObject ? Object.keys(known.shape).join(", ") : "";
    const name = [...issue.path, issue.keys[0]].join(".");
    throw new ConfigError(`${name} is no option; ${at || "there"} can be: ${options}.`);
  }
  const isUnset = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  const why = isUnset
    ? "it has no value; write one, or set the variable that it is read from"
    : issue.message;
  throw new ConfigError(`${at} is not usable: ${why}.`);
}

/**
 * Refuses connectors that are none, or whose names cannot stand side by side.
 * @throws ConfigError naming the place and the fix
 */
export function checkConnectors(connectors: unknown): asserts connectors is readonly Connector[] {
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
    if (!isConnectorId(id)) {
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
    if (isReserved(id)) {
      throw new ConfigError(`${at}.id ${id} is a name that programs already have: rename it.`);
    }
    const problem = policyProblem(connector.policy);
    if (problem !== undefined) throw new ConfigError(`connector ${id}: ${problem}.`);
    const limitsProblem = callLimitsProblem(connector.limits);
    if (limitsProblem !== undefined) throw new ConfigError(`connector ${id}: ${limitsProblem}.`);
    byId.add(id);
    byGlobal.set(global, id);
  }
}

const STORAGE = ["get", "set", "delete", "list", "compareAndSet"] as const;

/** Refuses a store without one of its functions. @throws ConfigError */
export function checkStorage(storage: Storage | undefined): void {
  if (storage === undefined) return;
  const missing = STORAGE.find((name) => typeof storage?.[name] !== "function");
  if (missing === undefined) return;
  throw new ConfigError(
    `storage has no ${missing}(): give a store, such as sqliteStorage({ file: "connecta.db" }).`,
  );
}

/** Refuses a store of recorded calls that is none. @throws ConfigError */
export function checkActivity(activity: ActivityStore | false | undefined): void {
  if (activity === undefined || activity === false) return;
  const missing = (["record", "read"] as const).find(
    (name) => typeof activity?.[name] !== "function",
  );
  if (missing === undefined) return;
  const isStorage = STORAGE.every((name) => Object(activity)[name] !== undefined);
  throw new ConfigError(
    isStorage
      ? "activity is a store of keys: give storageActivity({ storage }) with it."
      : `activity has no ${missing}(): give a store, such as ` +
          'fileActivity({ file: "activity.jsonl" }), or false.',
  );
}
