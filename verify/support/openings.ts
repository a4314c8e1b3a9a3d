import { afterEach } from "vitest";

/** What a test opened, to be closed after it, the last first. */
export function openings(): (() => Promise<unknown>)[] {
  const open: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });
  return open;
}
