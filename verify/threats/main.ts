import { readFileSync } from "node:fs";
import { startFirefox } from "../firefox/firefox.ts";
import { ROOT } from "../support/chromium.ts";
import { BUSY, keepBusy, type BusyMeasured } from "./busy.ts";
import { startChromium } from "./chromium.ts";
import type { Driver } from "./driver.ts";
import { measure, type Measured } from "./measure.ts";
import naive from "./naive.ts?travel";
import { inParallel } from "./parallel.ts";
import { allowlisted, moved, nonced, ordinary, undefended, type Place } from "./places.ts";
import { Site } from "./site.ts";
import type { Browser, Vector } from "./vector.ts";
import { NONCE } from "./vectors/nonce.ts";
import { allowlistTables, TABLE } from "./vectors/table.ts";
import { Witness } from "./witness.ts";

/** What one browser did. */
export interface Run {
  readonly version: string;
  readonly table: readonly Measured[];
  /** The open vectors of the table again, in a host that allows no connection. */
  readonly allowlist: readonly Measured[];
  /** The evidence about nonces; nothing in Firefox. */
  readonly nonce: readonly Measured[];
  readonly busy: readonly BusyMeasured[];
}

const BROWSERS_AT_ONCE = 3;

/**
 * Measures everything in one browser.
 * @param address of this machine in a network of its own; without one, over loopback alone
 */
export default async function main(browser: Browser, address?: string): Promise<Run> {
  const shell = readFileSync(`${ROOT}dist/shell/index.html`, "utf8");
  const [usual, control] = [ordinary(shell), undefended(naive)];
  const others = { moved: moved(shell), allowlisted: allowlisted(shell), nonced: nonced(shell) };
  const start = browser === "firefox" ? startFirefox : startChromium;
  const witness = await Witness.start(address);
  const places = [usual, ...Object.values(others), control];
  const site = await Site.start(places, (label) => witness.hear(label, "http"));
  const driver = await start();
  const at = (vectors: readonly Vector[], other: Place, leaks?: Place) => {
    const places = { other, lands: control, ...(leaks && { leaks }) };
    return measure({ driver, site, witness }, vectors, places);
  };
  try {
    const table = await at(TABLE, others.moved, usual);
    const allowlist = [];
    for (const one of allowlistTables(browser)) {
      allowlist.push(...(await at(one, others.allowlisted)));
    }
    const nonce = browser === "chromium" ? await at(NONCE, others.nonced, usual) : [];
    const busy = await keepAllBusy(start, site, usual, control);
    return { version: driver.version, table, allowlist, nonce, busy };
  } finally {
    await driver.close();
    await site.close();
    await witness.close();
  }
}

async function keepAllBusy(
  start: () => Promise<Driver>,
  site: Site,
  usual: Place,
  control: Place,
): Promise<readonly BusyMeasured[]> {
  const measured: BusyMeasured[] = [];
  await inParallel(BROWSERS_AT_ONCE, BUSY, async (one) => {
    measured.push(await keepBusy(start, site, one, one.defended ? usual : control));
  });
  return measured;
}
