import { BUSY, type Effect } from "./busy.ts";
import { expected, type Browser, type Vector } from "./vector.ts";
import { TABLE } from "./vectors/table.ts";
import type { Channel } from "./witness.ts";

const WORDS: Readonly<Record<Channel, string>> = {
  dns: "name",
  tcp: "connection",
  udp: "datagrams",
  sni: "server name",
  http: "request",
  call: "undeclared call",
  page: "forged answer",
  prompt: "question to the person",
};

/** The vectors of the table by row, in its order. */
export function byRow(vectors: readonly Vector[]): ReadonlyMap<string, readonly Vector[]> {
  const rows = new Map<string, Vector[]>();
  for (const vector of vectors) rows.set(vector.row, [...(rows.get(vector.row) ?? []), vector]);
  return rows;
}

/** What was heard, in words. */
export function inWords(channels: readonly Channel[]): string {
  const heard = Object.entries(WORDS).filter(([channel]) =>
    channels.some((one) => one === channel),
  );
  return heard.map(([, words]) => words).join(", ");
}

/** The table of the documentation, line by line, as the pins have it. */
export function documentedTable(): readonly string[] {
  const vectors = [...byRow(TABLE)].map(([row, some]) =>
    line(row, cell(some, "chromium"), cell(some, "firefox")),
  );
  const rows = [...new Set(BUSY.flatMap(({ row }) => row ?? []))];
  const busy = rows.map((row) => line(row, busyCell(row, "chromium"), busyCell(row, "firefox")));
  return [...vectors, ...busy];
}

const line = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function cell(vectors: readonly Vector[], browser: Browser): string {
  const outcomes = vectors.map((vector) => expected(vector, browser));
  if (outcomes.every(({ lands }) => lands.length === 0)) return "not in it";
  const leaks = outcomes.flatMap((outcome) => outcome.leaks);
  const more = outcomes.flatMap(({ other }) => other.filter((one) => !leaks.includes(one)));
  const chance = outcomes.some((outcome) => outcome.chance) ? ", at times" : "";
  const effect = vectors.find((vector) => vector.effect !== undefined)?.effect ?? inWords(leaks);
  const usual = leaks.length === 0 ? "closed" : `**open**: ${effect}`;
  return (more.length === 0 ? usual : `${usual}; moved: ${inWords(more)}`) + chance;
}

function busyCell(row: string, browser: Browser): string {
  const effects = BUSY.filter((one) => one.row === row).map((one) => ({
    name: one.name,
    words: effectInWords(one.effect[browser]),
  }));
  const [first] = effects;
  const different = effects.filter(({ words }) => words !== first?.words);
  return [first?.words, ...different.map(({ name, words }) => `${name}: ${words}`)].join("; ");
}

function effectInWords({ host, shell, prompted }: Effect): string {
  const asked = prompted ? "the person is asked" : "";
  const stopped = !host ? "the host stops" : shell ? "" : "the shell stops, the host does not";
  return [asked, stopped].filter((one) => one !== "").join(", ");
}
