import { z } from "zod";
import { fail, type FailureCode, type Outcome } from "./failure.ts";
import { LIMITS } from "./limits.ts";
import { clampUtf8 } from "./text.ts";

/** The tools through which calls come in, each in a word for people. */
export const ACTIVITY_SOURCES = {
  call_tool: "call",
  call_destructive_tool: "write",
  execute_code: "program",
} as const;

/** The tool through which a call came in; a view's read is a `call_tool`. */
export type ActivitySource = keyof typeof ACTIVITY_SOURCES;

/**
 * One attempted call, refused ones included. No field can hold an argument, a result, code or the
 * text of an error; names that others wrote have at most 128 bytes.
 */
export interface ActivityEvent {
  /** When the call ended, in milliseconds since the epoch. */
  readonly time: number;
  readonly source: ActivitySource;
  /** The connector that the address led to; absent when it led to none. */
  readonly connector?: string | undefined;
  /** The tool that the address led to; absent when it led to none. */
  readonly tool?: string | undefined;
  /** The canonical address, or what the caller wrote instead of one. */
  readonly address: string;
  readonly outcome: "ok" | "failed";
  /** Why it failed. */
  readonly code?: FailureCode | undefined;
  /** From the call's arrival to its answer, in milliseconds. */
  readonly durationMs: number;
  /** How often the connector was asked; 0 for a call that was refused before. */
  readonly attempts: number;
  readonly principal: string;
  readonly requestId: string;
  /** The run of `execute_code` that made the call. */
  readonly runId?: string | undefined;
}

/** Which events are asked for; every one of the given fields must be equal. */
export interface ActivityFilter {
  readonly connector?: string | undefined;
  readonly outcome?: ActivityEvent["outcome"] | undefined;
  readonly source?: ActivitySource | undefined;
  readonly principal?: string | undefined;
}

/** What to read back. */
export interface ActivityQuery extends ActivityFilter {
  /** Events of one page; 100 when omitted, 1,000 at most. */
  readonly limit?: number | undefined;
  /** The cursor of an earlier page: gives what was recorded since, oldest first. */
  readonly after?: string | undefined;
}

/** Some events; newest first, unless they were read after a cursor. */
export interface ActivityPage {
  readonly events: readonly ActivityEvent[];
  /** Leads to what is recorded after the newest event of this page, or of the store. */
  readonly cursor: string;
}

/**
 * Where events go. `record` is called on the path of every call, before its answer: it keeps the
 * event and returns at once, and its outcome says later whether that is stored. Whatever it does, a
 * call neither fails nor waits. Failures of `read`: `invalid_args`, `unavailable`.
 */
export interface ActivityStore {
  /** What it holds ends with this process. */
  readonly isVolatile?: boolean;
  record(event: ActivityEvent): Promise<Outcome<void>> | void;
  read(query?: ActivityQuery): Promise<Outcome<ActivityPage>>;
  /** Resolves when everything that was recorded is stored, or cannot be. */
  close?(): Promise<void>;
}

const DEFAULT_PAGE = 100;
const NAME_BYTES = LIMITS.nameBytes.value;

/** A name that somebody else wrote, as far as events keep it. */
export function eventName(text: string): string {
  // No character has less than a byte: what stands further back need not be measured.
  return clampUtf8(text.length > NAME_BYTES ? text.slice(0, NAME_BYTES) : text, NAME_BYTES);
}

/** Whether an event is asked for. */
export function isAskedFor(event: ActivityEvent, filter: ActivityFilter): boolean {
  const { connector, outcome, source, principal } = filter;
  return (
    (connector === undefined || event.connector === connector) &&
    (outcome === undefined || event.outcome === outcome) &&
    (source === undefined || event.source === source) &&
    (principal === undefined || event.principal === principal)
  );
}

/** The number of events that a query asks for. */
export function pageSize({ limit = DEFAULT_PAGE }: ActivityQuery): Outcome<number> {
  const most = LIMITS.activityPage.value;
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return { ok: true, value: limit };
  return fail("invalid_args", `limit is a whole number from 1 to ${most}.`);
}

const name = z.string().transform(eventName);

/** Events as stores that write text keep them: what was not written by us is left out. */
const WRITTEN = z.object({
  id: z.string().min(1).max(NAME_BYTES),
  time: z.number(),
  source: z.enum(Object.keys(ACTIVITY_SOURCES) as ActivitySource[]),
  connector: name.optional(),
  tool: name.optional(),
  address: name,
  outcome: z.enum(["ok", "failed"]),
  // One that this version does not know is still a code.
  code: z
    .custom<FailureCode>((value) => typeof value === "string" && /^\w{1,64}$/.test(value))
    .optional(),
  durationMs: z.number(),
  attempts: z.number(),
  principal: name,
  requestId: name,
  runId: name.optional(),
});

/** An event with its place in a store that writes text. */
export interface Written {
  /** Unique; of one process a later event has a greater one. */
  readonly id: string;
  readonly event: ActivityEvent;
}

/** The line of an event, with its end. */
export function toLine({ id, event }: Written): string {
  return `${JSON.stringify({ id, ...event })}\n`;
}

/** The event of a line; `undefined` for a line that is torn or not ours. */
export function fromLine(line: string): Written | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const read = WRITTEN.safeParse(value);
  if (!read.success) return undefined;
  const { id, ...event } = read.data;
  return { id, event };
}

/** Counts within a millisecond up to here without a longer id. */
const COUNTER_DIGITS = 4;
const TIME_DIGITS = 9;

/** Makes ids that sort by time, as {@link idOfTime} does, and then by order. */
export function idMaker(): (time: number) => string {
  const own = crypto.randomUUID().slice(0, 8);
  let last = 0;
  let count = 0;
  return (time) => {
    // A clock that was put back must not put later events before earlier ones.
    count = time > last ? 0 : count + 1;
    last = Math.max(last, time);
    return `${idOfTime(last)}${count.toString(36).padStart(COUNTER_DIGITS, "0")}-${own}`;
  };
}

/** What the ids of a millisecond begin with. */
export function idOfTime(time: number): string {
  return Math.max(0, Math.floor(time)).toString(36).padStart(TIME_DIGITS, "0");
}
