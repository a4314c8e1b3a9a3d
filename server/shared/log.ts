import { LIMITS } from "./limits.ts";
import { Notice } from "./notice.ts";
import type { Observation } from "./observation.ts";
import { clampUtf8, kindOf, placesOf } from "./text.ts";

/** From what must be looked at to what is only read while searching. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How entries are written: lines for people, or one JSON object a line. */
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** One entry: a sentence of ours, and what it is about as ids, numbers and codes. */
export interface LogEntry {
  readonly level: LogLevel;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
  /** The fault itself, whose text may hold anything; only a function of the deployment sees it. */
  readonly error?: Error;
}

/** Does with entries whatever it likes. */
export type LogSink = (entry: LogEntry) => void;

/** How a deployment logs: to stderr, or to a function that is given every entry. */
export type LogOption =
  | {
      /** Entries of this level and those before it; `warn` when omitted. */
      readonly level?: LogLevel;
      /** `text` when omitted. */
      readonly format?: LogFormat;
      /** Whether faults are written with their text, which may hold anything: for development. */
      readonly faultTexts?: boolean;
    }
  | LogSink;

/** The one way out for what an operator should know. */
export class Log {
  readonly #sink: LogSink;
  readonly #weight: number;

  /** @param level entries of this level and those before it reach the sink */
  constructor(sink: LogSink, level: LogLevel) {
    this.#sink = sink;
    this.#weight = LOG_LEVELS.indexOf(level);
  }

  enabled(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= this.#weight;
  }

  /** @param message a sentence of ours that holds nothing of anybody else's */
  write(level: LogLevel, message: string, fields: LogEntry["fields"] = {}, error?: Error): void {
    if (!this.enabled(level)) return;
    const time = Date.now();
    try {
      this.#sink({ level, time, message, fields, ...(error && { error }) });
    } catch {
      // Whoever logs into something broken still gets its answers.
    }
  }

  /**
   * Tells of a fault that no caller sees. A {@link Notice} is meant to be read and is a warning.
   * @param what it happened to
   */
  fault(thrown: unknown, what: string, requestId?: string): void {
    const fields = requestId === undefined ? {} : { requestId };
    if (thrown instanceof Notice) return this.write("warn", thrown.message, fields, thrown);
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const subject = clampUtf8(what.replace(/[^\x20-\x7e]/g, "?"), LIMITS.echoBytes.value);
    this.write("error", `${kindOf(thrown)} in ${subject}`, fields, error);
  }
}

/** The log of a deployment. */
export function createLog(option: LogOption = {}): Log {
  if (typeof option === "function") return new Log(option, "debug");
  const { level = "warn", format = "text", faultTexts = false } = option;
  const write = format === "json" ? jsonLine : textLines;
  return new Log((entry) => console.error(write(entry, faultTexts)), level);
}

/** Writes what ended, one entry each: what was asked for as information, the rest for searching. */
export function logged(log: Log): (seen: Observation) => void {
  return (seen) => {
    const { kind, ms, ...about } = seen;
    const level = kind === "load" || kind === "admission" ? "debug" : "info";
    if (!log.enabled(level)) return;
    const code = "code" in seen ? seen.code : undefined;
    const outcome = kind === "admission" ? {} : { outcome: code === undefined ? "ok" : "failed" };
    const fields = { ...about, ...outcome, ms: Math.round(ms * 1_000) / 1_000 };
    log.write(level, kind, clamped(fields));
  };
}

/** Names that connectors gave their tools are as long as these like, and hold what they like. */
function clamped(fields: Record<string, string | number | undefined>): LogEntry["fields"] {
  const said = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, typeof value === "string" ? clampUtf8(value, LIMITS.nameBytes.value) : value]];
  });
  return Object.fromEntries(said) as LogEntry["fields"];
}

function textLines({ level, message, fields, error }: LogEntry, faultTexts: boolean): string {
  if (level === "info" || level === "debug") {
    const pairs = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
    return ["connecta:", message, ...pairs].join(" ");
  }
  const { requestId } = fields;
  if (error === undefined || error instanceof Notice) return `connecta: ${message}`;
  const head = `connecta: ${message}${requestId === undefined ? "" : `, request ${requestId}`}`;
  return faultTexts
    ? `${head}: ${error.stack ?? error.message}`
    : [head, ...placesOf(error)].join("\n");
}

function jsonLine({ level, time, message, fields, error }: LogEntry, faultTexts: boolean): string {
  const isFault = error !== undefined && !(error instanceof Notice);
  const stack = isFault ? { stack: placesOf(error).map((frame) => frame.trim()) } : {};
  const text = isFault && faultTexts ? { error: error.message } : {};
  const at = new Date(time).toISOString();
  return JSON.stringify({ time: at, level, message, ...fields, ...text, ...stack });
}

/** A name with blanks or quotes in it must not look like something else of the line. */
function shown(value: string | number): string {
  const text = String(value);
  return /^[\x21-\x7e]+$/.test(text) && !/["=]/.test(text) ? text : JSON.stringify(text);
}
