import { readFile, writeFile } from "node:fs/promises";
import { LIMITS } from "../shared/limits.ts";
import { PAYLOAD_KEY, VIEW_CSP, checkPayload, type ViewPayload } from "../view/protocol.ts";
import { ask } from "./ask.ts";
import { UsageError, type RunCommand } from "./cli-command.ts";
import { withConnecta } from "./cli-open.ts";
import { codeOf, write } from "./cli-print.ts";
import { readPiped } from "./hidden-input.ts";

/** Runs a program against a deployment and prints its envelope; 1 when the program failed. */
export async function run(command: RunCommand): Promise<void> {
  const code = await readProgram(command.file);
  const { diagnostics, view } = command;
  await withConnecta(command, async (connecta) => {
    const answer = await ask(connecta, "execute_code", { code, diagnostics });
    await write(`${JSON.stringify(answer.structuredContent, null, 2)}\n`);
    for (const { type, text } of answer.content.slice(1)) {
      console.error(`connecta: emitted ${typeof text === "string" ? text : `a block: ${type}`}`);
    }
    if (view !== undefined && answer.isError !== true) {
      await save(view, answer._meta?.[PAYLOAD_KEY]);
    }
    return answer.isError === true ? 1 : 0;
  });
}

async function readProgram(file: string): Promise<string> {
  if (file === "-") return readPiped(process.stdin, LIMITS.requestBodyBytes.value);
  const text = await readFile(file, "utf8").catch((error: unknown) => error as Error);
  if (typeof text === "string") return text;
  throw new UsageError(`${file} cannot be read (${codeOf(text)}).`);
}

async function save(file: string, payload: unknown): Promise<void> {
  const checked = checkPayload(payload);
  if (!checked.ok) throw new UsageError(`the program made no view; ${file} was not written.`);
  const failed = await writeFile(file, page(checked.value)).catch((error: unknown) => error);
  if (failed !== undefined) throw new UsageError(`${file} cannot be written (${codeOf(failed)}).`);
  const reads = Object.keys(checked.value.reads ?? {}).length;
  const need = reads === 1 ? "read needs" : "reads need";
  const note = reads === 0 ? "" : ` Its ${reads} ${need} a host: connecta dev is one.`;
  console.error(`connecta: the view is in ${file}.${note}`);
}

/** Opened from a folder there is no host around it, so the page brings the policy of hosts. */
function page({ html }: ViewPayload): string {
  const policy = `<meta http-equiv="Content-Security-Policy" content="${VIEW_CSP}">`;
  return `<!doctype html>\n<meta charset="utf-8">\n${policy}\n${html}\n`;
}
