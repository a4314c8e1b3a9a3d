import { ACTIVITY_SOURCES, type ActivityEvent } from "../shared/activity.ts";
import { printable } from "./cli-print.ts";

const MIN_COLUMNS = 80;
const TIME_COLUMNS = 8;
const DURATION_COLUMNS = 6;
const SOURCE_COLUMNS = 7;
/** An address that is longer moves its own row and no other. */
const ADDRESS_COLUMNS = 30;
const GAP = "  ";

/** Writes recorded calls for a person, a line each, and the day whenever another begins. */
export class ActivityText {
  readonly #room: number;
  #day = "";

  /** @param columns of the terminal; fewer than eighty are taken for eighty */
  constructor(columns = MIN_COLUMNS) {
    const fixed = TIME_COLUMNS + DURATION_COLUMNS + SOURCE_COLUMNS + 3 * GAP.length;
    this.#room = Math.max(MIN_COLUMNS, columns) - fixed;
  }

  /** The text of some events, in the order that they are given in. */
  of(events: readonly ActivityEvent[]): string {
    return events.map((event) => `${this.#row(event)}\n`).join("");
  }

  #row(event: ActivityEvent): string {
    const { source, durationMs, address, code, attempts, outcome } = event;
    const [day, time] = localTime(event.time);
    const heading = day === this.#day ? "" : `${day}\n`;
    this.#day = day;
    const result = `${code ?? outcome}${attempts > 1 ? ` ×${attempts}` : ""}`;
    const room = this.#room - GAP.length - result.length;
    const columns = [
      time,
      ACTIVITY_SOURCES[source].padEnd(SOURCE_COLUMNS),
      duration(durationMs).padStart(DURATION_COLUMNS),
      shortened(printable(address), room).padEnd(Math.min(ADDRESS_COLUMNS, room)),
      result,
    ];
    return heading + columns.join(GAP);
  }
}

/** Day and time where the reader is. */
function localTime(time: number): readonly [string, string] {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  return [
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":"),
  ];
}

function duration(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  return `${(ms / 1_000).toFixed(ms < 99_950 ? 1 : 0)} s`;
}

/** Its start and its end tell addresses apart best. */
function shortened(text: string, room: number): string {
  const characters = [...text];
  if (characters.length <= room) return text;
  const head = Math.ceil((room - 1) / 2);
  const tail = room - 1 - head;
  return `${characters.slice(0, head).join("")}…${tail > 0 ? characters.slice(-tail).join("") : ""}`;
}
