import { viewResult } from "../shell/results.ts";
import type { Driver } from "./driver.ts";
import heartSource from "./heart.ts?travel";
import type { Beat } from "./heart.ts";
import type { Place } from "./places.ts";
import type { Site } from "./site.ts";
import type { Browser } from "./vector.ts";
import { READS, saidBy } from "./views.ts";

/** What a program that goes on and on does to what is around it. */
export interface Effect {
  /** Whether the page of the host went on. */
  readonly host: boolean;
  /** Whether the shell still answered its host. */
  readonly shell: boolean;
  /** Whether another view came up where the host had taken this one away. */
  readonly again: boolean;
  /** Whether the person was asked anything. */
  readonly prompted: boolean;
}

/** One such program. */
export interface BusyVector {
  /** The row of the table in the documentation; none for a control. */
  readonly row?: string;
  readonly name: string;
  /** What the program runs once it has made a read. */
  readonly loop: string;
  readonly defended: boolean;
  /** Whether the view's page stands on the host's own site, not on one of its own. */
  readonly sameSite?: boolean;
  readonly effect: Readonly<Record<Browser, Effect>>;
}

/** What was seen of one. */
export interface BusyMeasured extends Effect {
  readonly name: string;
}

const ALIVE = { host: true, shell: true, again: true, prompted: false };
const SHELL_STOPS = { ...ALIVE, shell: false };
const ALL_STOPS = { host: false, shell: false, again: false, prompted: false };
const ALL_ASKED = { ...ALL_STOPS, prompted: true };

/** Each with what it did, as measured. */
export const BUSY: readonly BusyVector[] = [
  {
    row: "Endless loop",
    name: "in a view on a site of its own",
    loop: "for (;;);",
    defended: true,
    effect: { chromium: SHELL_STOPS, firefox: SHELL_STOPS },
  },
  {
    row: "Endless loop",
    name: "in a view on the site of its host",
    loop: "for (;;);",
    defended: true,
    sameSite: true,
    effect: { chromium: SHELL_STOPS, firefox: ALL_STOPS },
  },
  {
    row: "Endless alerts",
    name: "alerts without end",
    loop: "for (;;) alert();",
    defended: true,
    effect: { chromium: SHELL_STOPS, firefox: SHELL_STOPS },
  },
  {
    name: "control: a view that does nothing",
    loop: "",
    defended: true,
    effect: { chromium: ALIVE, firefox: ALIVE },
  },
  {
    name: "control: an endless loop where nothing holds it",
    loop: "for (;;);",
    defended: false,
    sameSite: true,
    effect: { chromium: ALL_STOPS, firefox: ALL_STOPS },
  },
  {
    name: "control: alerts without end where nothing holds them",
    loop: "for (;;) alert();",
    defended: false,
    sameSite: true,
    effect: { chromium: ALL_ASKED, firefox: ALL_ASKED },
  },
];

/** Beats of the host until it takes the view away. */
const PATIENCE = 20;
/** Beats of a page on a third site, by which all of that has happened or never will. */
const CLOCK = 120;
const BEAT_MS = 20;

/** Shows such a program in a browser of its own, which ends by its process. */
export async function keepBusy(
  start: () => Promise<Driver>,
  site: Site,
  vector: BusyVector,
  place: Place,
): Promise<BusyMeasured> {
  const driver = await start();
  const state = { computing: false, clock: 0, late: 0, answered: 0, again: false, prompted: false };
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, BEAT_MS));
  const beating = site.listen(async ({ answered, again }: Beat) => {
    if (state.clock > CLOCK / 2) state.late++;
    Object.assign(state, { answered, again });
    await pause();
  });
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const ticking = site.listen(async () => {
    if (state.computing && ++state.clock > CLOCK) end();
    await pause();
  });
  const html = `<script>connecta.read("item", { id: "ran" }).finally(() => { ${vector.loop} })</script>`;
  const url = site.host(place, viewResult(html, READS), {
    shell: (vector.sameSite ? site.origin : site.named("view")) + place.path,
    script: `(${heartSource})(${JSON.stringify(beating)}, ${PATIENCE})`,
    onReport: (report) => {
      if (saidBy(report) === "ran") state.computing = true;
    },
  });
  try {
    await driver.open(clockPage(site, ticking), () => {});
    await driver.open(url, () => (state.prompted = true));
    await ended;
  } finally {
    await driver.close();
  }
  const { late, answered, again, prompted } = state;
  return { name: vector.name, host: late > 0, shell: answered > 1, again, prompted };
}

function clockPage(site: Site, path: string): string {
  const tick = `const tick = () => fetch("${path}", { method: "POST", body: "[0]" }).then(tick);`;
  return site.page(`<script>${tick} tick()</script>`).replace(site.origin, site.named("clock"));
}
