import type { Channel, Target } from "./witness.ts";

/** The browsers that are measured. */
export type Browser = "chromium" | "firefox";

/** What the person does once the view stands: looks at it, or uses the link that fills it. */
export type Act = "look" | "press" | "click" | "ctrl-click" | "middle-click";

/** What is heard of an attack, as measured. */
export interface Outcome {
  /** Where nothing holds it; nothing when the browser has no such thing. */
  readonly lands: readonly Channel[];
  /** From a view in an ordinary host; nothing when it is closed. */
  readonly leaks: readonly Channel[];
  /** The same at the other place of the table, which may be another. */
  readonly other: readonly Channel[];
  /** Whether a leak comes at times only. */
  readonly chance: boolean;
}

/** One way out of a view that a hostile program may try, and what came of it in Chromium. */
export interface Vector extends Partial<Outcome> {
  readonly lands: readonly Channel[];
  /** The row of the table in the documentation that this is a part of. */
  readonly row: string;
  readonly name: string;
  /** The program's HTML. */
  readonly html: (to: Target) => string;
  /** What it needs of its own, because it disturbs what else is there; a part of a page otherwise. */
  readonly needs?: "view" | "tab";
  readonly act?: Act;
  /** Whether the tab shows another page first, which tells when it is shown again. */
  readonly before?: boolean;
  /** Whether the program says by itself, when it is through, that it ran. */
  readonly tells?: boolean;
  /** Whether only the ordinary host is of interest, because no policy has a part in it. */
  readonly ordinary?: boolean;
  /** Whether the control is a page by itself, not the same nest of frames without a defence. */
  readonly page?: boolean;
  /** Whether it needs what only a network of its own has: names, an interface. */
  readonly network?: boolean;
  /** What a leak comes to, where the channels do not say it. */
  readonly effect?: string;
  /** What came of it in Firefox, where that differs. */
  readonly firefox?: Partial<Outcome>;
}

export const DNS: readonly Channel[] = ["dns"];
export const TCP: readonly Channel[] = ["dns", "tcp"];
export const TLS: readonly Channel[] = ["dns", "sni", "tcp"];
export const HTTP: readonly Channel[] = ["dns", "http", "tcp"];
export const UDP: readonly Channel[] = ["dns", "udp"];
/** A request to the own origin, for which no name is looked up. */
export const OWN: readonly Channel[] = ["http"];
export const NOTHING: readonly Channel[] = [];

/** Of a browser that has no such thing. */
export const ABSENT = { lands: NOTHING, leaks: NOTHING } as const;

type Html = Vector["html"];
type Rest = Omit<Vector, "row" | "name" | "html" | "lands">;

/** Vectors of one row, by name, that have all else in common. */
export function row(
  name: string,
  lands: readonly Channel[],
  html: Readonly<Record<string, Html>>,
  rest: Rest = {},
): readonly Vector[] {
  return Object.entries(html).map(([title, one]) => ({
    row: name,
    name: title,
    html: one,
    lands,
    ...rest,
  }));
}

/**
 * What a vector is expected to come to.
 * @param named whether the witness answers for names: without, nobody hears that one is looked up
 */
export function expected(vector: Vector, browser: Browser, named = true): Outcome {
  const firefox = browser === "firefox" ? (vector.firefox ?? {}) : {};
  const leaks = firefox.leaks ?? vector.leaks ?? NOTHING;
  // What was measured in one browser alone says nothing of the other place there.
  const other = firefox.other ?? (firefox.leaks ? leaks : (vector.other ?? leaks));
  const audible = (channels: readonly Channel[]) =>
    named ? channels : channels.filter((channel) => channel !== "dns");
  return {
    lands: audible(firefox.lands ?? vector.lands),
    leaks: audible(leaks),
    other: audible(other),
    chance: (firefox.chance ?? vector.chance) === true,
  };
}

/** Whether a vector can be tried at all where the witness answers for no name. */
export function isAudible({ network }: Vector, named: boolean): boolean {
  return named || network !== true;
}

/** Whether a person's pointer has a part in it. */
export function isPointed({ act }: Vector): boolean {
  return act !== undefined && act !== "look";
}

/** HTML with a script that runs a function, which closes over nothing, with the target. */
export function run(attack: (to: Target) => unknown): Html {
  return (to) => `<script>(${String(attack)})(${JSON.stringify(to)})</script>`;
}

/** The same once the word that it ran is with the host, for what ends the document. */
export function leave(attack: (to: Target) => unknown): Html {
  return (to) =>
    `<script>say("ran").finally(() => (${String(attack)})(${JSON.stringify(to)}))</script>`;
}

/** A frame in the view with a page of its own. */
export function nested(html: string, style = ""): string {
  const value = html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe style="${style}" srcdoc="${value}"></iframe>`;
}
