import { viewResult } from "../shell/results.ts";
import type { Place } from "./places.ts";
import type { Report } from "./reporter.ts";
import type { Site } from "./site.ts";
import { isPointed, type Vector } from "./vector.ts";
import { isSign, type Channel, type Target, type Witness } from "./witness.ts";

/** A vector, with an address of its own to go to and what must be heard of it. */
export interface Aimed {
  readonly vector: Vector;
  readonly target: Target;
  readonly awaited: readonly Channel[];
}

/** One view: attacks that share a page. The first one's label stands for all of them. */
export type View = readonly [Aimed, ...Aimed[]];

const MAX_IN_FLIGHT = 8;

/** The one read of every view; how it must look at the host stands in {@link saidBy}. */
export const READS = {
  item: { address: "shop.item", fixedArgs: { kind: "small" }, viewArgs: ["id"] },
};

/** Puts a view up at a place. @returns the address of its host page */
export function putUp(site: Site, witness: Witness, place: Place, view: View): string {
  const [{ vector, target }] = view;
  const html = view.map((one) => one.vector.html(one.target)).join("\n");
  if (!place.defended && vector.page) {
    witness.hear(target.label, "ran");
    return site.page(html);
  }
  const onReport = (report: Report) => {
    const said = saidBy(report);
    if (said === undefined) witness.hear(target.label, "call");
    else if (said === "landed") witness.hear(target.label, "page");
    else if (isSign(said)) witness.hear(target.label, said);
  };
  const whole = opening(vector) + html;
  return site.host(place, viewResult(place.changed?.(whole) ?? whole, READS), { onReport });
}

/** A page that tells when it is shown, and asks for something of its own origin when it is again. */
export function putBefore(site: Site, witness: Witness, { label }: Target): string {
  const path = site.listen(() => witness.hear(label, "shown"));
  return site.page(`<script>addEventListener("pageshow", ({ persisted }) => {
    const [entry] = performance.getEntriesByType("navigation");
    if (persisted || entry.type === "back_forward") fetch("/own/${label}");
    // A page that is left before it is whole has no place in the history.
    else setTimeout(() => fetch("${path}", { method: "POST", body: "[{}]" }));
  })</script>`);
}

/** What a program begins with: a way to tell, and the telling itself unless it does that later. */
function opening(vector: Vector): string {
  const say = `const say = (id) => connecta.read("item", { id });`;
  const hear = isPointed(vector) ? `(${String(hearPointer)})();` : "";
  return `<script>${say}${hear}${vector.tells ? "" : `say("ran")`}</script>`;
}

declare function say(word: string): Promise<unknown>;

function hearPointer(): void {
  addEventListener("mousemove", () => say("pointed"), { capture: true, once: true });
  addEventListener("mousedown", () => say("acted"), { capture: true, once: true });
  // From a frame within, where the two are heard as well.
  addEventListener("message", ({ data }) => {
    if (data === "pointed" || data === "acted") void say(data);
  });
}

/** What a declared read carries; `undefined` when the request is anything else. */
export function saidBy({ method, params, inFlight }: Report): unknown {
  const { name, arguments: call } = asRecord(params);
  const { address, args, resultMode, ...rest } = asRecord(call);
  const { id, kind, ...others } = asRecord(args);
  const declared =
    method === "tools/call" &&
    name === "call_tool" &&
    address === "shop.item" &&
    resultMode === "value" &&
    kind === "small" &&
    JSON.stringify([rest, others]) === "[{},{}]";
  // The host page reports an object in the place of a long text.
  const bounded = inFlight <= MAX_IN_FLIGHT && typeof id !== "object";
  return declared && bounded ? (id ?? "") : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
