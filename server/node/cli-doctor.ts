import { styleText } from "node:util";
import type { DoctorCommand } from "./cli-command.ts";
import { printable, write } from "./cli-print.ts";
import { diagnose } from "./doctor.ts";
import { isWell, type Check, type Finding, type Part } from "./doctor-report.ts";

/** Looks at a deployment and says what is wrong, why, and what mends it; 0 when all is well. */
export async function doctor(command: DoctorCommand): Promise<void> {
  const { connector: only, json, ...sources } = command;
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort()).once("SIGTERM", () => leaving.abort());
  const { isTTY } = process.stderr;
  const progress = (text: string) => isTTY && process.stderr.write(`\r\u001b[K${text}`);
  const parts = await diagnose(sources, {
    only,
    signal: leaving.signal,
    onPart: (name) => progress(`looking at ${printable(name)} …`),
  });
  progress("");
  const ok = isWell(parts);
  await write(json ? `${JSON.stringify({ ok, parts }, null, 2)}\n` : asText(parts, ok));
  process.exit(ok ? 0 : 1);
}

function asText(parts: readonly Part[], ok: boolean): string {
  const lines = parts.flatMap(({ name, checks }) => [
    styled("bold", printable(name)),
    ...checks.flatMap(section),
  ]);
  const count = parts.flatMap(({ checks }) => checks.flatMap(({ findings }) => findings)).length;
  const end = ok ? styled("green", "All is well.") : styled("red", `${count} to mend.`);
  return [...lines, end].join("\n").concat("\n");
}

const STATES = {
  ok: ["green", "ok"],
  failed: ["red", "FAILED"],
  skipped: ["dim", "not looked at"],
} as const;

function section({ step, state, findings, notes = [] }: Check): string[] {
  const [colour, word] = STATES[state];
  return [
    `  ${step.padEnd(12)}${styled(colour, word)}`,
    ...findings.flatMap(explained),
    ...notes.map((note) => `    note   ${printable(note)}`),
  ];
}

function explained({ code, cause, fix, errorOutput = "" }: Finding): string[] {
  const output = errorOutput.split("\n").filter((line) => line.trim() !== "");
  return [
    `    code   ${code}`,
    `    cause  ${printable(cause)}`,
    `    fix    ${printable(fix)}`,
    ...output.map((line) => `    | ${printable(line)}`),
  ];
}

function styled(style: "bold" | "green" | "red" | "dim", text: string): string {
  const isPlain = !process.stdout.isTTY || (process.env.NO_COLOR ?? "") !== "";
  return isPlain ? text : styleText(style, text);
}
