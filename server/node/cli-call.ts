import { readFile } from "node:fs/promises";
import type { Connecta } from "../index.ts";
import { LIMITS } from "../shared/limits.ts";
import { isRecord } from "../shared/record.ts";
import { ask, type Answer } from "./ask.ts";
import { UsageError, type CallCommand } from "./cli-command.ts";
import { withConnecta } from "./cli-open.ts";
import { codeOf, printable, write } from "./cli-print.ts";
import { readPiped } from "./hidden-input.ts";

/** Calls one tool and prints what it answered; only one that reads, unless it may write. */
export async function call(command: CallCommand): Promise<void> {
  const { address, json, write: mayWrite } = command;
  const args = await readArguments(command.args);
  await withConnecta(command, async (connecta) => {
    const answer = mayWrite
      ? await ask(connecta, "call_destructive_tool", { address, args })
      : await ask(connecta, "call_tool", { address, args, resultMode: "value" });
    if (answer.isError === true) return refused(answer, command);
    const value = await whole(connecta, answer);
    const text = typeof value === "string" && !json ? value : JSON.stringify(value, null, 2);
    await write(`${process.stdout.isTTY ? legible(text) : text}\n`);
    return 0;
  });
}

/** JSON as it stands there, `@file`, or `-` for stdin. @throws UsageError */
async function readArguments(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  const text = given === "-" || given.startsWith("@") ? await readNamed(given) : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`the arguments are no JSON: write '{"id":"r7"}', @file.json or -.`);
  }
  if (isRecord(value)) return value;
  throw new UsageError("the arguments must be one JSON object, by the names of the tool's schema.");
}

async function readNamed(given: string): Promise<string> {
  if (given === "-") return readPiped(process.stdin, LIMITS.requestBodyBytes.value);
  const file = given.slice(1);
  const text = await readFile(file, "utf8").catch((error: unknown) => error as Error);
  if (typeof text === "string") return text;
  throw new UsageError(`${file} cannot be read (${codeOf(text)}).`);
}

/** The value of an answer; one that was kept for paging is read to its end. */
async function whole(connecta: Connecta, { structuredContent = {}, content }: Answer) {
  const { ok, truncated, resultId, data } = structuredContent;
  if (ok === true && "data" in structuredContent) return data;
  if (ok === true && truncated === true && typeof resultId === "string") {
    return asValue(await readPages(connecta, resultId));
  }
  // An integration's own result in its own form.
  if (Object.keys(structuredContent).length > 0) return structuredContent;
  const texts = content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  return texts.length === content.length ? asValue(texts.join("\n")) : content;
}

async function readPages(connecta: Connecta, id: string): Promise<string> {
  const texts: string[] = [];
  let offset: unknown = 0;
  while (typeof offset === "number") {
    const { structuredContent = {} } = await ask(connecta, "get_result", { id, offset });
    texts.push(String(structuredContent.text ?? ""));
    offset = structuredContent.nextOffset;
  }
  return texts.join("");
}

function asValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function refused(answer: Answer, { address, json }: CallCommand): Promise<number> {
  const { error } = answer.structuredContent ?? {};
  const failure = isRecord(error) ? error : { message: answer.content.map(textOf).join(" ") };
  if (json) await write(`${JSON.stringify({ ok: false, error: failure }, null, 2)}\n`);
  const { code = "connector_call_failed", message = "" } = failure;
  const way =
    code === "destructive_tool_requires_approval"
      ? `${address} may change something: --write lets it.`
      : printable(String(message));
  console.error(`connecta: ${String(code)}: ${way}`);
  return 1;
}

function textOf({ type, text }: { readonly type: string; readonly text?: unknown }): string {
  return typeof text === "string" ? text : `(${type})`;
}

/** A terminal obeys what an integration wrote; lines and tabs are all that it may. */
function legible(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n");
}
