/** One bound: its value, its unit and why it is what it is. */
interface Limit {
  readonly value: number;
  readonly unit: "ms" | "seconds" | "bytes" | "characters" | "count" | "calls" | "runs";
  readonly reason: string;
}

const limit = (value: number, unit: Limit["unit"], reason: string): Limit => ({
  value,
  unit,
  reason,
});

/** Limits of one program, each an option under `execute`. */
export const EXECUTE_LIMITS = {
  maxHostCalls: limit(20, "calls", "a program reduces; more calls are a loop that wants a filter"),
  maxBatchCalls: limit(10, "calls", "what one batch may start side by side"),
  hostCallTimeoutMs: limit(15_000, "ms", "an integration that takes longer is down for a program"),
  timeoutMs: limit(30_000, "ms", "hosts give up on a tool call after about a minute"),
  cpuMs: limit(250, "ms", "joining and reducing takes little; host waits are free"),
  heapBytes: limit(64 * 1024 * 1024, "bytes", "holds an 8 MiB result parsed, with room to reduce"),
  processHeapBytes: limit(512 * 1024 * 1024, "bytes", "heaps of all runs of one sandbox process"),
  stackBytes: limit(256 * 1024, "bytes", "more overflows the interpreter's own stack first"),
  maxResultBytes: limit(8 * 1024 * 1024, "bytes", "one host-call result carried into a program"),
  maxArgumentBytes: limit(4 * 1024 * 1024, "bytes", "one host-call argument carried out of it"),
  maxSourceBytes: limit(1024 * 1024, "bytes", "source beyond this is data, not a program"),
  maxEmittedBytes: limit(4_000_000, "bytes", "everything rich that one response carries"),
  maxEmittedBlocks: limit(32, "count", "blocks a host can show in one result"),
  maxRuns: limit(64, "runs", "live runs; a waiting program costs a context, not a process"),
  maxQueuedRuns: limit(64, "runs", "waiting beyond this only hides overload"),
  queueTimeoutMs: limit(5_000, "ms", "a client would rather hear that it is busy"),
} as const satisfies Record<string, Limit>;

/** The `execute` options with their numbers. */
export type ExecuteLimits = { readonly [K in keyof typeof EXECUTE_LIMITS]: number };

/** Limits of requests, each an option under `http`. */
export const HTTP_LIMITS = {
  maxRequests: limit(256, "count", "requests at once; a program gives its place back for a run"),
  maxQueuedRequests: limit(256, "count", "waiting beyond this only hides overload"),
  queueTimeoutMs: limit(5_000, "ms", "a client would rather hear that it is busy"),
  bodyTimeoutMs: limit(10_000, "ms", "a body that comes slower holds a place that others need"),
} as const satisfies Record<string, Limit>;

/** The limits of requests with their numbers. */
export type HttpLimits = { readonly [K in keyof typeof HTTP_LIMITS]: number };

/** Bounds of the gateway that no option changes. */
export const LIMITS = {
  returnChars: limit(24_000, "characters", "a return value is context: it is paid for by tokens"),
  logChars: limit(4_000, "characters", "logs help the model; they are not a data channel"),
  instructionsChars: limit(1_000, "characters", "loaded into every conversation"),
  toolsListBytes: limit(6_000, "bytes", "loaded into every conversation"),
  inventoryBytes: limit(256, "bytes", "connector ids in the description of execute_code"),
  inlineResultBytes: limit(50_000, "bytes", "above this a result is paged with get_result"),
  blockBytes: limit(8 * 1024 * 1024, "bytes", "image, audio and blob blocks of one result in all"),
  stashTtlMs: limit(15 * 60_000, "ms", "how long a truncated result can be paged"),
  stashEntries: limit(64, "count", "truncated results kept at once by an instance"),
  stashBytes: limit(64 * 1024 * 1024, "bytes", "truncated results kept at once by an instance"),
  callTimeoutMs: limit(30_000, "ms", "call_tool, where nothing else is asked for"),
  maxCallTimeoutMs: limit(120_000, "ms", "the longest timeoutMs a caller may ask for"),
  requestBodyBytes: limit(4 * 1024 * 1024 + 64 * 1024, "bytes", "one argument and its envelope"),
  jsonDepth: limit(256, "count", "levels of a large JSON text; deeper ones are slow to read"),
  jsonContainers: limit(
    250_000,
    "count",
    "objects and lists of a large JSON text, for the same reason",
  ),
  jsonMembers: limit(50_000, "count", "members of one object of a large JSON text: a list has any"),
  answersInFlightBytes: limit(64 * 1024 * 1024, "bytes", "answers on their way into all programs"),
  argumentsInFlightBytes: limit(
    32 * 1024 * 1024,
    "bytes",
    "arguments of calls under way in programs",
  ),
  answerStallMs: limit(60_000, "ms", "a client that takes nothing of its answer is gone"),
  queuedCalls: limit(256, "calls", "waiting for one connector; beyond this it only hides overload"),
  partitions: limit(256, "count", "callers that one connector's limits tell apart at once"),
  searchBytes: limit(256_000, "bytes", "one page of discovery inside a program"),
  schemaTextBytes: limit(1_024, "bytes", "one compact schema in discovery"),
  descriptionChars: limit(160, "characters", "a description in discovery"),
  describeAddresses: limit(100, "count", "addresses in one describe"),
  echoBytes: limit(512, "bytes", "caller text echoed in an error"),
  nameBytes: limit(128, "bytes", "caller-authored names in activity"),
  reasonChars: limit(500, "characters", "call_destructive_tool's reason, for a person to read"),
  catalogFreshMs: limit(300_000, "ms", "a catalog younger than this is served as it is"),
  catalogStaleMs: limit(3_600_000, "ms", "served stale up to this age while one refresh runs"),
  catalogTimeoutMs: limit(10_000, "ms", "one connector's tool list, so that none delays another"),
  catalogRetryMs: limit(5_000, "ms", "a dead connector is not asked again for every search"),
  storageKeyBytes: limit(1_024, "bytes", "a key names; it is no place for data"),
  storageValueBytes: limit(16 * 1024 * 1024, "bytes", "holds ten thousand tools with schemas"),
  storageListKeys: limit(1_000, "count", "keys in one page of a listing"),
  storageTimeoutMs: limit(2_000, "ms", "a store that takes longer is slower than asking anew"),
  activityEvents: limit(1_000, "count", "recorded calls in memory: some 300 KB"),
  activityPage: limit(1_000, "count", "recorded calls read back at once"),
  activityWaiting: limit(10_000, "count", "recorded calls that a slow store may owe: some 4 MB"),
  activityTtlMs: limit(7 * 24 * 3_600_000, "ms", "recorded calls in a store of keys"),
  tokenUseMs: limit(3_600_000, "ms", "how exactly a token's last use is known; one write each"),
  issuerTimeoutMs: limit(5_000, "ms", "an issuer's metadata or keys, while a caller waits"),
  issuerDocumentBytes: limit(256 * 1024, "bytes", "an issuer's metadata or keys"),
  issuerFreshMs: limit(3_600_000, "ms", "where an issuer keeps its keys changes hardly ever"),
  issuerKeysFreshMs: limit(600_000, "ms", "so long a key serves that its issuer withdrew"),
  issuerRetryMs: limit(5_000, "ms", "an issuer is not asked again for every forged token"),
  clockSkewSeconds: limit(30, "seconds", "how far the clocks of issuer and server may differ"),
  credentialBytes: limit(64 * 1024, "bytes", "one field; certificates with their keys are shorter"),
  authorizationMs: limit(10 * 60_000, "ms", "from a link to the person's consent"),
  oauthTimeoutMs: limit(10_000, "ms", "one question to an authorization server"),
  oauthAnswerBytes: limit(1024 * 1024, "bytes", "metadata or tokens of an authorization server"),
  operatorSessionMs: limit(3_600_000, "ms", "a browser that was left open ends on its own"),
  operatorBrowserMs: limit(90 * 24 * 3_600_000, "ms", "so long a browser has attempts of its own"),
  operatorAttempts: limit(10, "count", "secrets tried at once, by one browser or all strangers"),
  operatorAttemptMs: limit(15_000, "ms", "then one in this time: nobody guesses 16 characters"),
  queryChars: limit(1_000, "characters", "a search query beyond this is a document"),
  drainMs: limit(10_000, "ms", "how long a stopping server waits for requests in flight"),
} as const satisfies Record<string, Limit>;

/** The default numbers of {@link EXECUTE_LIMITS}, ready to be overridden by a deployment. */
export function defaultExecuteLimits(): ExecuteLimits {
  return numbers(EXECUTE_LIMITS);
}

/** The same of {@link HTTP_LIMITS}. */
export function defaultHttpLimits(): HttpLimits {
  return numbers(HTTP_LIMITS);
}

function numbers<K extends string>(table: Readonly<Record<K, Limit>>): Record<K, number> {
  const entries = Object.entries<Limit>(table).map(([name, { value }]) => [name, value]);
  return Object.fromEntries(entries) as Record<K, number>;
}
