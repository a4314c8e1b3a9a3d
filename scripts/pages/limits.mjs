const MIB = 1024 * 1024;
const KIB = 1024;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const INTRO = [
  "# Limits",
  "",
  "What bounds programs, requests and everything else, with the reason for each. Written by",
  "`npm run pages` from `server/shared/limits.ts`; what a refusal says is in",
  "[failures](failures.md).",
  "",
  "How programs meet theirs is told in [programs](programs.md#limits), how requests, programs and",
  "calls wait for each other in [running](running.md#how-much-at-once), and what one connector may",
  "be asked for is set [with the connector](connectors.md#limits-of-a-connector).",
].join("\n");

const SECTIONS = [
  [
    "EXECUTE_LIMITS",
    "One program",
    "Options below `execute` in the config. Live and waiting runs, and the heaps of a process, are\n" +
      "counted over all programs.",
  ],
  ["HTTP_LIMITS", "Requests", "Options below `http` in the config."],
  [
    "LIMITS",
    "Everything else",
    "No option changes these, but `calls.timeoutMs` for `callTimeoutMs`.",
  ],
];

/**
 * The page of limits.
 * @param tables what `server/shared/limits.ts` exports
 */
export function limitsPage(tables) {
  const sections = SECTIONS.map(([name, title, words]) => {
    const rows = Object.entries(tables[name]).map(
      ([key, { value, unit, reason }]) => `| \`${key}\` | ${inWords(value, unit)} | ${reason} |`,
    );
    return [
      `## ${title}`,
      "",
      words,
      "",
      "| limit | value | why |",
      "| --- | --- | --- |",
      ...rows,
    ];
  });
  return `${[INTRO, ...sections.map((lines) => lines.join("\n"))].join("\n\n")}\n`;
}

/**
 * A value as a person says it.
 * @param {number} value
 * @param {string} unit of `server/shared/limits.ts`
 */
export function inWords(value, unit) {
  if (unit === "bytes" && value % MIB === 0) return `${grouped(value / MIB)} MiB`;
  if (unit === "bytes" && value >= KIB && value % KIB === 0) return `${grouped(value / KIB)} KiB`;
  if (unit === "ms") return time(value);
  if (unit === "seconds") return time(value * 1000);
  return unit === "count" ? grouped(value) : `${grouped(value)} ${unit}`;
}

function time(ms) {
  if (ms % DAY === 0) return ms === DAY ? "1 day" : `${ms / DAY} days`;
  if (ms > MINUTE && ms % MINUTE === 0) return `${ms / MINUTE} min`;
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`;
}

function grouped(value) {
  return value.toLocaleString("en-US");
}
