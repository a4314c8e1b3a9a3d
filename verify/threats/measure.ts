import { attack, type Field } from "./attack.ts";
import type { Tab } from "./driver.ts";
import { inParallel } from "./parallel.ts";
import type { Place } from "./places.ts";
import { expected, isAudible, isPointed, type Vector } from "./vector.ts";
import type { Aimed, View } from "./views.ts";
import type { Channel } from "./witness.ts";

/** What was heard of one vector at one place. */
export interface Measured {
  readonly place: string;
  readonly row: string;
  readonly name: string;
  readonly heard: readonly Channel[];
  /** Whether the program said that it ran, or that the pointer came to it where one was to. */
  readonly ran: boolean;
}

/** The places of a table: an ordinary host, another place, and one without a defence. */
export interface Places {
  readonly leaks?: Place;
  readonly other: Place;
  readonly lands: Place;
}

type Which = keyof Places;

const TABS_AT_ONCE = 4;
const VIEWS_IN_A_TAB = 8;
/** Plans that are through before the tabs of one are closed. */
const LINGERING = 6;

/** Vectors that share a tab, by view. */
type Plan = readonly (readonly [Vector, ...Vector[]])[];

/** The views of one tab. */
interface Shown {
  readonly place: Place;
  readonly views: readonly View[];
}

/**
 * Runs every vector at every place. The control of a tab comes last: when all of it has landed, by
 * the same way through the same browser to the same listeners, nothing of the earlier attacks is
 * still on its way. What was heard is read when everything is over.
 */
export async function measure(
  field: Field,
  vectors: readonly Vector[],
  places: Places,
): Promise<readonly Measured[]> {
  const shown: Shown[] = [];
  const lingering: Tab[][] = [];
  const plans = plansOf(vectors.filter((one) => isAudible(one, field.witness.named)));
  const run = async (plan: Plan) => {
    lingering.push(await runPlan(field, plan, places, shown));
    if (lingering.length > LINGERING) for (const tab of lingering.shift() ?? []) await tab.close();
  };
  await inParallel(
    TABS_AT_ONCE,
    plans.filter((plan) => !isActedOn(plan)),
    run,
  );
  // One person has one pointer, and looks at one tab.
  await inParallel(1, plans.filter(isActedOn), run);
  for (const tab of lingering.flat()) await tab.close();
  return shown.flatMap(({ place, views }) => views.flatMap((view) => read(field, place, view)));
}

async function runPlan(field: Field, plan: Plan, places: Places, shown: Shown[]): Promise<Tab[]> {
  const tabs: Tab[] = [];
  for (const which of ["leaks", "other", "lands"] as const) {
    const place = places[which];
    if (!place) continue;
    const wanted = plan.filter(([one]) => !(one.ordinary && which === "other"));
    const aimed = wanted.map((view) => aim(field, view, which));
    const [first, ...rest] = await Promise.all(aimed);
    if (!first) continue;
    shown.push({ place, views: [first, ...rest] });
    tabs.push(await attack(field, place, [first, ...rest]));
  }
  return tabs;
}

async function aim(
  { driver, witness, site }: Field,
  [first, ...rest]: Plan[number],
  which: Which,
): Promise<View> {
  const one = async (vector: Vector): Promise<Aimed> => {
    const target = await witness.target(site.origin);
    const outcome = expected(vector, driver.kind, witness.named);
    const awaited = outcome.chance && which !== "lands" ? [] : outcome[which];
    return { vector, target, awaited };
  };
  return [await one(first), ...(await Promise.all(rest.map(one)))];
}

function read({ witness }: Field, { name: place }: Place, view: View): readonly Measured[] {
  const [first] = view;
  const ran = witness.signs(first.target.label).includes(isPointed(first.vector) ? "acted" : "ran");
  return view.map(({ vector: { row, name }, target: { label } }) => {
    return { place, row, name, heard: witness.heard(label), ran };
  });
}

function isActedOn([view]: Plan): boolean {
  return view?.[0].act !== undefined;
}

/** One view for all that disturb nothing; several views in a tab, unless one needs it for itself. */
function plansOf(vectors: readonly Vector[]): readonly Plan[] {
  const [first, ...rest] = vectors.filter(({ needs }) => needs === undefined);
  const plans: [Vector, ...Vector[]][][] = first ? [[[first, ...rest]]] : [];
  let sharing: [Vector, ...Vector[]][] = [];
  for (const vector of vectors) {
    if (vector.needs === "tab") plans.push([[vector]]);
    if (vector.needs !== "view") continue;
    if (sharing.length % VIEWS_IN_A_TAB === 0) plans.push((sharing = []));
    sharing.push([vector]);
  }
  return plans;
}
