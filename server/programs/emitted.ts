import { fail, ok, type Outcome } from "../shared/failure.ts";
import { isRecord } from "../shared/record.ts";
import { utf8Length } from "../shared/text.ts";
import { acceptPayload, payloadBytes } from "../view/payload.ts";
import type { ViewPayload } from "../view/protocol.ts";

/** A block that a program emitted, exactly as it will be delivered. */
export type EmittedBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string };

/** Everything rich that one run will deliver if it succeeds: blocks and at most one view. */
export class Emitted {
  readonly blocks: EmittedBlock[] = [];
  payload: ViewPayload | undefined;
  payloadBytes = 0;
  #bytes = 0;
  readonly #maxBytes: number;
  readonly #maxBlocks: number;

  /**
   * @param maxBytes serialized bytes of all blocks and the view together
   * @param maxBlocks blocks
   */
  constructor(maxBytes: number, maxBlocks: number) {
    this.#maxBytes = maxBytes;
    this.#maxBlocks = maxBlocks;
  }

  /** Bytes of the emitted blocks alone. */
  get blockBytes(): number {
    return this.#bytes - this.payloadBytes;
  }

  /** Accepts one block whole or not at all. */
  emit(args: readonly unknown[]): Outcome<void> {
    const block = checkBlock(args);
    if (!block.ok) return block;
    if (this.blocks.length >= this.#maxBlocks) {
      return fail("budget_exceeded", `maxEmittedBlocks: all ${this.#maxBlocks} are used.`, {
        budget: "maxEmittedBlocks",
        remaining: 0,
      });
    }
    const spent = this.#spend(utf8Length(JSON.stringify(block.value)));
    if (!spent.ok) return spent;
    this.blocks.push(block.value);
    return spent;
  }

  /** Checks `connecta.ui`'s arguments without accepting anything yet. */
  checkUi(args: readonly unknown[]): Outcome<ViewPayload> {
    if (this.payload) {
      return fail("invalid_args", "connecta.ui was already called: one run renders one view.");
    }
    return acceptPayload(args);
  }

  /** Accepts a view that was checked since the last one was accepted. */
  acceptUi(payload: ViewPayload): Outcome<void> {
    const bytes = payloadBytes(payload);
    const spent = this.#spend(bytes);
    if (!spent.ok) return spent;
    this.payload = payload;
    this.payloadBytes = bytes;
    return spent;
  }

  /** The refusal of content whose size alone, in characters, is beyond the budget. */
  overBudget(chars: number): Outcome<never> {
    const remaining = this.#maxBytes - this.#bytes;
    return fail(
      "budget_exceeded",
      `maxEmittedBytes: ${chars} or more bytes do not fit; ${remaining} of ${this.#maxBytes} are left.`,
      { budget: "maxEmittedBytes", remaining, bytes: chars },
    );
  }

  #spend(bytes: number): Outcome<void> {
    if (this.#bytes + bytes > this.#maxBytes) return this.overBudget(bytes);
    this.#bytes += bytes;
    return ok(undefined);
  }
}

function checkBlock(args: readonly unknown[]): Outcome<EmittedBlock> {
  const [fields] = args;
  if (args.length !== 1 || !isRecord(fields)) {
    return invalid("connecta.emit takes exactly one block object");
  }
  const keys = Object.keys(fields).sort().join();
  switch (fields.type) {
    case "text":
      return keys === "text,type" && typeof fields.text === "string"
        ? ok({ type: "text", text: fields.text })
        : invalid("a text block is { type, text } with a string and no other field");
    case "image":
    case "audio":
      return keys === "data,mimeType,type" &&
        isBase64(fields.data) &&
        isMediaType(fields.mimeType, fields.type)
        ? ok({ type: fields.type, data: fields.data, mimeType: fields.mimeType })
        : invalid(
            `${fields.type === "image" ? "an image" : "an audio"} block is ` +
              "{ type, data, mimeType } with base64 data, a matching MIME type and no other field",
          );
    default:
      return invalid('connecta.emit takes blocks of type "text", "image" or "audio"');
  }
}

function invalid(message: string): Outcome<never> {
  return fail("invalid_args", `${message}.`);
}

/** Whole groups of four, as every decoder takes them; the last may be padded. */
function isBase64(data: unknown): data is string {
  return (
    typeof data === "string" &&
    data.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/.test(data)
  );
}

function isMediaType(mimeType: unknown, type: string): mimeType is string {
  return typeof mimeType === "string" && new RegExp(`^${type}/[\\w.+-]+$`).test(mimeType);
}
