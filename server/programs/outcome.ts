import { z } from "zod";
import { fail, failure, type Failure, type Outcome } from "../shared/failure.ts";
import { toJson } from "../shared/json.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampChars, clampUtf8 } from "../shared/text.ts";

/** What the guest's runner reports: a value, a preview of a long one, or how it failed. */
export type GuestOutcome =
  | { readonly kind: "value"; readonly value: unknown; readonly chars: number }
  | { readonly kind: "preview"; readonly preview: string; readonly totalChars: number }
  /** The run ended itself, which only its time or its caller can have been the reason for. */
  | { readonly kind: "ended" }
  | { readonly kind: "failure"; readonly failure: Failure };

const MAX_MESSAGE_CHARS = 2_000;
const MAX_PATH = LIMITS.echoBytes.value;

const reported = z.union([
  z.strictObject({ ok: z.literal(true), value: z.unknown() }),
  z.strictObject({ ok: z.literal(true), preview: z.string(), totalChars: z.number() }),
  z.strictObject({ ok: z.literal(false), id: z.number() }),
  z.strictObject({ ok: z.literal(false), ended: z.literal(true) }),
  z.strictObject({
    ok: z.literal(false),
    code: z.enum(["program_error", "not_serializable"]),
    message: z.string(),
    path: z.string().optional(),
    line: z.number().optional(),
    column: z.number().optional(),
  }),
]);

/**
 * Reads what the runner resolved to. A failure that the host issued is recognised by its id and
 * taken from the host's own record; everything else is the program's own doing.
 * @param issued failures handed to this run, by id
 * @param addedLines lines that the program was given on top
 */
export function readOutcome(
  text: unknown,
  issued: ReadonlyMap<number, Failure>,
  addedLines: number,
): GuestOutcome {
  const parsed = reported.safeParse(tryParse(text));
  if (!parsed.success) return { kind: "failure", failure: tampered() };
  const report = parsed.data;
  if (report.ok) {
    if ("value" in report) return bounded(report.value);
    const preview = report.preview.slice(0, LIMITS.returnChars.value);
    return { kind: "preview", preview, totalChars: report.totalChars };
  }
  if ("ended" in report) return { kind: "ended" };
  if ("id" in report) {
    const known = issued.get(report.id);
    const unknown = failure("program_error", "The program threw an error it did not receive.");
    return { kind: "failure", failure: known ?? unknown };
  }
  return { kind: "failure", failure: ownFailure(report, addedLines) };
}

const answered = z.object({
  result: z.unknown(),
  error: z.string().optional(),
  logs: z.array(z.string()).optional(),
});

/**
 * Reads what an executor handed back. It comes out of a sandbox, and a program that took its place
 * may have put anything there.
 */
export function readAnswer(answer: unknown): z.infer<typeof answered> | undefined {
  return answered.safeParse(answer).data;
}

/** A program that took its runner's place. */
export function tampered(): Failure {
  const message = "The program tampered with its runner: it returned nothing readable.";
  return failure("program_error", message);
}

/** The runner keeps the bound; a program that took its place may not have. */
function bounded(value: unknown): GuestOutcome {
  const json = toJson(value, "The result");
  if (!json.ok) return { kind: "failure", failure: json.failure };
  const { length } = json.value;
  if (length <= LIMITS.returnChars.value) return { kind: "value", value, chars: length };
  const preview = json.value.slice(0, LIMITS.returnChars.value);
  return { kind: "preview", preview, totalChars: length };
}

type OwnReport = Extract<z.infer<typeof reported>, { code: string }>;

function ownFailure(report: OwnReport, addedLines: number): Failure {
  const message = clampChars(report.message, MAX_MESSAGE_CHARS);
  switch (report.code) {
    case "not_serializable":
      return failure("not_serializable", message, {
        path: clampUtf8(report.path ?? "result", MAX_PATH),
      });
    case "program_error": {
      const line = report.line === undefined ? undefined : report.line - addedLines;
      if (line === undefined || line < 1) return failure("program_error", message);
      const column = report.column ?? 1;
      const where = `${message} (line ${line}, column ${column})`;
      return failure("program_error", where, { line, column });
    }
  }
}

function tryParse(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an executor tells in words only is something that the program's code did. */
export function executorFailure(error: string): Outcome<never> {
  return fail("program_error", clampChars(error, MAX_MESSAGE_CHARS));
}
