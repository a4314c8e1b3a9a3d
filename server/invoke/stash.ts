import { fail, ok, type NextAction, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { StashRoom, type Held } from "./stash-room.ts";
import { fromBytes, toBytes } from "./text-bytes.ts";

/** A page of a stashed result. */
export interface Page {
  readonly id: string;
  readonly offset: number;
  readonly text: string;
  readonly totalBytes: number;
  readonly nextOffset?: number;
  /** The exact call that reads the next page. */
  readonly nextAction?: NextAction;
}

/** How a truncated result is announced: its start, its id and the exact next call. */
export interface Truncated {
  readonly ok: true;
  readonly truncated: true;
  readonly preview: string;
  readonly resultId: string;
  readonly totalBytes: number;
  readonly nextAction: NextAction;
}

/** Where results too large to hand over at once wait for their caller. */
export interface Results {
  /** Keeps a text and announces it; a text over the bound is refused. */
  keep(
    address: string,
    text: string,
    scope: Scope,
  ): Outcome<Truncated> | Promise<Outcome<Truncated>>;
  /**
   * Reads one page of at most `maxBytes` bytes from `offset`, whole characters only.
   * Another caller's result does not exist: `not_found`.
   */
  page(
    id: string,
    offset: number,
    maxBytes: number,
    scope: Scope,
  ): Outcome<Page> | Promise<Outcome<Page>>;
}

interface Entry extends Held {
  readonly content: Uint8Array;
}

const PREVIEW_BYTES = 2_000;

/** Bytes of a page where nobody asks for fewer. */
export const DEFAULT_PAGE_BYTES = LIMITS.inlineResultBytes.value;

/** Results in memory, kept for a while for the caller who made the call. */
export class Stash implements Results {
  readonly #room = new StashRoom<Entry>();

  keep(address: string, text: string, scope: Scope): Outcome<Truncated> {
    const content = toBytes(text);
    const refused = tooLarge(address, content);
    if (refused) return refused;
    const id = crypto.randomUUID();
    this.#room.put(id, { content, bytes: content.length, principal: scope.principal }, scope.now());
    return ok(announced(id, content));
  }

  page(id: string, offset: number, maxBytes: number, scope: Scope): Outcome<Page> {
    const entry = this.#room.get(id, scope.now());
    if (!entry || entry.principal !== scope.principal) return unknownResult();
    const { content } = entry;
    return pageOf({ id, offset, maxBytes, totalBytes: content.length }, content.subarray(offset));
  }
}

/** Why a text is kept nowhere; `undefined` when it is. */
export function tooLarge(address: string, bytes: Uint8Array): Outcome<never> | undefined {
  const max = LIMITS.stashBytes.value / 4;
  if (bytes.length <= max) return undefined;
  return fail(
    "result_too_large",
    `${address} answered ${bytes.length} bytes; at most ${max} can be kept for paging. ` +
      "Reduce it in a program with execute_code.",
    { address, bytes: bytes.length, maxBytes: max },
  );
}

/** What is said of a result that was kept. */
export function announced(id: string, bytes: Uint8Array): Truncated {
  return {
    ok: true,
    truncated: true,
    preview: fromBytes(bytes.subarray(0, boundary(bytes, PREVIEW_BYTES))),
    resultId: id,
    totalBytes: bytes.length,
    nextAction: next({ id, offset: 0 }),
  };
}

/** What is said of a result that is not there, or another caller's. */
export function unknownResult(): Outcome<never> {
  return fail("not_found", "No result has this id: it expired, or it never existed.");
}

interface PageRequest {
  readonly id: string;
  readonly offset: number;
  readonly maxBytes: number;
  readonly totalBytes: number;
}

/**
 * Cuts a page.
 * @param from bytes of the result from `offset`: all of them, or a character more than `maxBytes`
 */
export function pageOf(request: PageRequest, from: Uint8Array): Outcome<Page> {
  const { id, offset, maxBytes, totalBytes } = request;
  if (offset > totalBytes || isContinuation(from[0])) {
    return fail(
      "invalid_args",
      `offset is not the start of a character within ${totalBytes} bytes; use nextOffset.`,
      { findings: [{ path: "offset", code: "range", expected: `0–${totalBytes}` }] },
    );
  }
  const length = boundary(from, maxBytes);
  const end = offset + length;
  const size = maxBytes === DEFAULT_PAGE_BYTES ? {} : { maxBytes };
  return ok({
    id,
    offset,
    text: fromBytes(from.subarray(0, length)),
    totalBytes,
    ...(end < totalBytes && {
      nextOffset: end,
      nextAction: next({ id, offset: end, ...size }),
    }),
  });
}

function next(args: { id: string; offset: number; maxBytes?: number }): NextAction {
  return { tool: "get_result", arguments: args };
}

/** The largest length up to `max` at which no UTF-8 character is split; at least one character. */
function boundary(bytes: Uint8Array, max: number): number {
  if (bytes.length <= max) return bytes.length;
  let end = max;
  while (end > 0 && isContinuation(bytes[end])) end--;
  if (end > 0) return end;
  end = 1;
  while (isContinuation(bytes[end])) end++;
  return end;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
