import { LIMITS } from "../shared/limits.ts";
import { UsageError } from "./cli-command.ts";

/** A reader of one of some words. @throws UsageError from the reader, for any other word */
export function wordOf<Word extends string>(
  option: string,
  words: readonly Word[],
  listed = `one of ${words.join(", ")}`,
) {
  return (text: string): Word => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw new UsageError(`${option} must be ${listed}.`);
  };
}

/** A reader of a whole number from one to a bound. @throws UsageError from the reader */
export function countTo(option: string, most: number) {
  return (text: string): number => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= most) return count;
    throw new UsageError(`${option} must be a whole number between 1 and ${most}.`);
  };
}

/** How many recorded calls may be asked for at once. */
export const MOST_EVENTS = LIMITS.activityPage.value;

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** A span such as `30d`, in milliseconds. @throws UsageError */
export function readTime(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return Number(count) * UNITS[unit as keyof typeof UNITS];
  }
  throw new UsageError("--expires must be a time such as 12h, 30d or 8w.");
}

/** A port number; nothing where nothing is said. @throws UsageError that names the option */
export function readPort(option: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${option} must be a port number between 0 and 65535.`);
}
