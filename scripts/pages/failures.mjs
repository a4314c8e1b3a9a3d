const BEFORE = [
  "# Failures",
  "",
  "Every code that a call, a program or a view can meet, with whether trying again may help and what",
  "to do. Written by `npm run pages` from `server/shared/failure.ts`.",
  "",
  "A failure is `{ code, message, retryable, … }` wherever it comes up: in the answer of a tool, as",
  "what a program catches, and, without the address, as what a [view](views.md#when-a-read-fails)",
  "catches. `retryable` follows from the code alone. `message` says what happened this time, and",
  "holds no credential.",
];

const AFTER = [
  "## What else a failure may carry",
  "",
  "| field | what it says |",
  "| --- | --- |",
  "| `nextAction` | the exact call that leads on: see [calls](calls.md#when-a-call-fails) |",
  "| `findings` | of refused arguments or answers: `path`, `code` and `expected`, never a value |",
  "| `address`, `addresses`, `connector` | what it is about |",
  "| `suggestions` | addresses that were probably meant |",
  "| `path` | where in a value something is that is no JSON |",
  "| `line`, `column`, `excerpt` | where in a program |",
  "| `limit`, `bytes`, `maxBytes` | which [limit](limits.md) was met, and by how much |",
  "| `budget`, `remaining` | which budget of a program, and what is left of it |",
  "| `retryAfterMs` | how long to wait before another try |",
  "| `timeoutMs` | the deadline that passed |",
];

/**
 * The page of failures.
 * @param failures the table of `server/shared/failure.ts`
 */
export function failuresPage(failures) {
  const rows = Object.entries(failures).map(
    ([code, { retryable, advice }]) => `| \`${code}\` | ${retryable ? "yes" : ""} | ${advice} |`,
  );
  const table = ["| code | again? | what to do |", "| --- | --- | --- |", ...rows];
  return `${[...BEFORE, "", ...table, "", ...AFTER].join("\n")}\n`;
}
