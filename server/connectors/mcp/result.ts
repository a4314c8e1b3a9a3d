import type { ContentBlock, ToolResult } from "../../shared/contracts.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { isRecord } from "../../shared/record.ts";
import { inputRequired } from "./failures.ts";

/**
 * What a tool answered, block by block as the server wrote it.
 * Failures: `input_required_unsupported`, `connector_call_failed` for what is no tool result.
 * @param what subject of a failure's message, e.g. `crm.get_record`
 * @param redact takes credentials out of the texts of an error; other results are left as they are
 */
export function readResult(
  what: string,
  answer: unknown,
  redact: (text: string) => string,
): Outcome<ToolResult> {
  const malformed = (part: string) =>
    fail("connector_call_failed", `${what} answered with ${part}, which is no tool result.`);
  if (!isRecord(answer)) return malformed("no object");
  const { resultType = "complete", content = [], isError } = answer;
  if (resultType === "input_required") return { ok: false, failure: inputRequired(what) };
  if (resultType !== "complete") return malformed("an unknown kind of result");
  if (answer.content === undefined && "task" in answer) return malformed("a task");
  if (!Array.isArray(content) || !content.every(isBlock)) return malformed("malformed content");
  const failed = isError === true;
  return ok({
    kind: "mcp",
    content: failed ? content.map((block) => redacted(block, redact)) : content,
    ...(answer.structuredContent !== undefined && { structuredContent: answer.structuredContent }),
    ...(failed && { isError: true }),
  });
}

function isBlock(value: unknown): value is ContentBlock {
  return isRecord(value) && typeof value.type === "string";
}

function redacted(block: ContentBlock, redact: (text: string) => string): ContentBlock {
  if (typeof block.text !== "string") return block;
  const text = redact(block.text);
  return text === block.text ? block : { ...block, text };
}
