import type { Driver, Tab } from "./driver.ts";
import type { Place } from "./places.ts";
import type { Site } from "./site.ts";
import { isPointed, type Act } from "./vector.ts";
import { putBefore, putUp, type View } from "./views.ts";
import type { Witness } from "./witness.ts";

/** Everything that a run needs. */
export interface Field {
  readonly driver: Driver;
  readonly site: Site;
  readonly witness: Witness;
}

/** How long a thing that must come may take; nothing waits so long when all is well. */
const PATIENCE_MS = 20_000;
const MOVES = 200;
const MOVE_MS = 100;

/**
 * Opens a tab with views in it, and does what a person does to the first. Waits until each program
 * has said that it ran, and until all was heard that must be: every attack, where nothing defends.
 */
export async function attack(
  { driver, site, witness }: Field,
  place: Place,
  views: readonly [View, ...View[]],
): Promise<Tab> {
  const [[{ vector, target }]] = views;
  const urls = views.map((view) => putUp(site, witness, place, view));
  const [only = ""] = urls;
  const url = urls.length === 1 ? only : site.page(urls.map(framed).join(""));
  const start = vector.before ? putBefore(site, witness, target) : url;
  const tab = await driver.open(start, () => witness.hear(target.label, "prompt"));
  if (vector.before) {
    await witness.until(target.label, ["shown"], PATIENCE_MS);
    await tab.go(url);
  }
  if (vector.act) await act(witness, tab, vector.act, target.label);
  const sign = isPointed(vector) ? "acted" : "ran";
  const told = views.map(([one]) => witness.until(one.target.label, [sign], PATIENCE_MS));
  if (place.defended) await Promise.all(told);
  const all = views.flat();
  await Promise.all(all.map((one) => witness.until(one.target.label, one.awaited, PATIENCE_MS)));
  return tab;
}

const framed = (url: string) =>
  `<iframe src="${url}" style="width:24%;height:120px;border:0"></iframe>`;

async function act(witness: Witness, tab: Tab, how: Act, label: string): Promise<void> {
  await tab.show();
  if (how === "look") return;
  // Until all frames have been drawn, what is below the pointer is not yet known to the browser.
  for (let move = 0; move < MOVES && !witness.signs(label).includes("pointed"); move++) {
    await tab.point(move % 2);
    await witness.until(label, ["pointed"], MOVE_MS);
  }
  await tab.act(how);
}
