import type { Client, VersionNegotiationMode } from "@modelcontextprotocol/client";
import { onAbort } from "../../shared/aborts.ts";
import { connect, hearToolChanges, makeClient } from "../mcp/client.ts";
import { errorCode, protocolCode } from "../mcp/failures.ts";
import type { Child, Ending, Launch, StopTimes } from "./child.ts";
import { Link } from "./link.ts";

/** A process that answers. */
export interface Session {
  readonly client: Client;
  readonly child: Child;
  readonly era: Era;
}

/** The generations of the protocol. */
export type Era = "modern" | "legacy";

/** What a handshake needs to know. */
export interface HandshakeOptions {
  readonly launch: Launch;
  /** What an earlier process of this server spoke. */
  readonly era: Era | undefined;
  /** Bytes that a line may have. */
  readonly maxBytes: number;
  /** Time for all of it, in milliseconds. */
  readonly timeoutMs: number;
  readonly stop: StopTimes;
  /** Ends a handshake that is under way. */
  readonly closing: AbortSignal;
  readonly toolsChanged: () => void;
  /** Told of every process that was begun, the one that answers included. */
  readonly began: (child: Child) => void;
}

/** Why there is no session. */
export interface Misstart {
  /** For anybody: no word of the process itself. */
  readonly reason: string;
  /** The process that failed last. */
  readonly child: Child | undefined;
}

const MODERN = { pin: "2026-07-28" } as const;
/** A server that is silent for this part of the deadline does not know the newer generation. */
const PROBE_SHARE = 0.5;

/**
 * Starts a process and agrees with it on a generation. A process speaks the generation of the first
 * message that it understood, so that another attempt needs another process.
 */
export async function shakeHands(options: HandshakeOptions): Promise<Session | Misstart> {
  const deadline = performance.now() + options.timeoutMs;
  let mode: VersionNegotiationMode | undefined = firstMode(options.era);
  let misstart: Misstart = { reason: "was not started", child: undefined };
  const tried = new Set<VersionNegotiationMode>();
  while (mode !== undefined && performance.now() < deadline) {
    tried.add(mode);
    const attempt = await tryOnce(mode, options, deadline - performance.now());
    if ("client" in attempt) return attempt;
    misstart = attempt;
    mode = attempt.next === undefined || tried.has(attempt.next) ? undefined : attempt.next;
  }
  return misstart;
}

function firstMode(era: Era | undefined): VersionNegotiationMode {
  if (era === undefined) return "auto";
  return era === "modern" ? MODERN : "legacy";
}

interface Attempt extends Misstart {
  readonly next: VersionNegotiationMode | undefined;
}

async function tryOnce(
  mode: VersionNegotiationMode,
  options: HandshakeOptions,
  timeoutMs: number,
): Promise<Session | Attempt> {
  const client = await makeClient(mode, timeoutMs * (mode === "auto" ? PROBE_SHARE : 1));
  hearToolChanges(client, options.toolsChanged);
  const link = new Link(options.launch, options.stop, options.maxBytes);
  const { child } = link;
  options.began(child);
  const end = () => child.stop(0);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const offs = [
    onAbort(options.closing, () => late.abort()),
    onAbort(late.signal, () => void end()),
  ];
  try {
    await connect(client, link, late.signal);
    const era = client.getProtocolEra() ?? "legacy";
    if (era === "modern") subscribe(client, link);
    void child.ended.then(() => client.close());
    return { client, child, era };
  } catch (error) {
    const byItself = child.hasEnded;
    await end();
    if (late.signal.aborted) return { reason: silence(options), child, next: undefined };
    const ending = await child.ended;
    const reason = byItself ? described(ending) : refusalIn(error);
    return { reason, child, next: nextMode(mode, error, child) };
  } finally {
    clearTimeout(timer);
    for (const off of offs) off();
  }
}

/** Asks the server to tell of changes; a server of the older generation does so unasked. */
function subscribe(client: Client, link: Link): void {
  link.stopAnswering();
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  // A server that does not keep its promise is read again when its list has aged.
  client.listen({ toolsListChanged: true }).catch(() => undefined);
}

/** What another process of the same server may be asked, after one refused. */
function nextMode(
  mode: VersionNegotiationMode,
  error: unknown,
  child: Child,
): VersionNegotiationMode | undefined {
  if (child.pid === undefined) return undefined;
  const isProbe = errorCode(error) === "ERA_NEGOTIATION_FAILED";
  if (mode === "auto") {
    // It took our question for its first message, and its end for the answer.
    if (isProbe) return "legacy";
    return protocolCode(error) === undefined ? undefined : MODERN;
  }
  return mode !== "legacy" && isProbe ? "legacy" : undefined;
}

function silence({ closing, timeoutMs }: HandshakeOptions): string {
  if (closing.aborted) return "is closed";
  return `did not answer the handshake within ${timeoutMs} ms`;
}

function described({ error, ...ending }: Ending): string {
  if (error !== undefined) return `could not be started (${error})`;
  return `${howItEnded(ending)} before it answered`;
}

function refusalIn(error: unknown): string {
  const code = protocolCode(error);
  if (code !== undefined) return `refused the handshake (error ${code})`;
  return "answered the handshake with something that is no MCP";
}

/** How a process ended, as a sentence goes on after its name. */
export function howItEnded({ code, signal }: Pick<Ending, "code" | "signal">): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}
