import { expected, NOTHING, type Browser, type Vector } from "../vector.ts";
import { LINKS } from "./links.ts";
import { MESSAGES } from "./messages.ts";
import { NAVIGATION } from "./navigation.ts";
import { NETWORK } from "./network.ts";
import { REALM } from "./realm.ts";
import { RESOURCES } from "./resources.ts";

/** Every way out that is tried. */
export const TABLE: readonly Vector[] = [
  ...NETWORK,
  ...RESOURCES,
  ...NAVIGATION,
  ...LINKS,
  ...MESSAGES,
  ...REALM,
];

/** What only a person brings about is tried once in each way, in a frame of the view's own. */
const isOne = ({ act, name }: Vector) =>
  act === undefined || act === "press" || act === "click" || name.includes("nested frame");

/**
 * The open ones again, with what comes of them in a host that allows no connection. Those of WebRTC
 * stand apart: Chromium ends the process that tries them, which others may share.
 */
export function allowlistTables(browser: Browser): readonly (readonly Vector[])[] {
  const open = TABLE.filter((one) => one.leaks !== undefined && isOne(one));
  // Firefox knows no such header: a few that share a page show that.
  if (browser === "firefox") return [open.filter(({ needs }) => !needs).map(unchanged)];
  const closed = open.map((vector): Vector => ({ ...vector, other: NOTHING, ordinary: false }));
  const isFatal = ({ row }: Vector) => row === "WebRTC";
  const alone = closed.filter(isFatal).map((vector): Vector => {
    return { ...vector, needs: "tab", act: "look" };
  });
  return [closed.filter((vector) => !isFatal(vector)), alone];
}

function unchanged(vector: Vector): Vector {
  const { leaks } = expected(vector, "firefox");
  return { ...vector, firefox: { ...vector.firefox, leaks, other: leaks } };
}
