import { fail, ok, type NextAction, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
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

interface Entry {
  readonly bytes: Uint8Array;
  readonly principal: string;
  readonly expires: number;
}

const PREVIEW_BYTES = 2_000;

/** Bytes of a page where nobody asks for fewer. */
export const DEFAULT_PAGE_BYTES = LIMITS.inlineResultBytes.value;

/**
 * Results too large to hand over at once, kept for a while for the caller who made the call. When
 * there is no room, the caller who holds the most gives up the oldest.
 */
export class Stash {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Keeps a text and announces it; a text over the stash's own bound is refused. */
  keep(address: string, text: string, scope: Scope): Outcome<Truncated> {
    const bytes = toBytes(text);
    const max = LIMITS.stashBytes.value / 4;
    if (bytes.length > max) {
      return fail(
        "result_too_large",
        `${address} answered ${bytes.length} bytes; at most ${max} can be kept for paging. ` +
          "Reduce it in a program with execute_code.",
        { address, bytes: bytes.length, maxBytes: max },
      );
    }
    this.#expire(scope.now());
    this.#makeRoom(scope.principal, bytes.length);
    const id = crypto.randomUUID();
    const expires = scope.now() + LIMITS.stashTtlMs.value;
    this.#entries.set(id, { bytes, principal: scope.principal, expires });
    this.#bytes += bytes.length;
    return ok({
      ok: true,
      truncated: true,
      preview: fromBytes(bytes.subarray(0, boundary(bytes, PREVIEW_BYTES))),
      resultId: id,
      totalBytes: bytes.length,
      nextAction: next({ id, offset: 0 }),
    });
  }

  /**
   * Reads one page of at most `maxBytes` bytes from `offset`, whole characters only.
   * Another caller's result does not exist: `not_found`.
   */
  page(id: string, offset: number, maxBytes: number, scope: Scope): Outcome<Page> {
    this.#expire(scope.now());
    const entry = this.#entries.get(id);
    if (!entry || entry.principal !== scope.principal) {
      return fail("not_found", "No result has this id: it expired, or it never existed.");
    }
    const { bytes } = entry;
    if (offset > bytes.length || isContinuation(bytes[offset])) {
      return fail(
        "invalid_args",
        `offset is not the start of a character within ${bytes.length} bytes; use nextOffset.`,
        { findings: [{ path: "offset", code: "range", expected: `0–${bytes.length}` }] },
      );
    }
    const end = offset + boundary(bytes.subarray(offset), maxBytes);
    const size = maxBytes === DEFAULT_PAGE_BYTES ? {} : { maxBytes };
    return ok({
      id,
      offset,
      text: fromBytes(bytes.subarray(offset, end)),
      totalBytes: bytes.length,
      ...(end < bytes.length && {
        nextOffset: end,
        nextAction: next({ id, offset: end, ...size }),
      }),
    });
  }

  #expire(now: number): void {
    for (const [id, entry] of this.#entries) if (entry.expires <= now) this.#drop(id, entry);
  }

  #makeRoom(principal: string, needed: number): void {
    while (
      this.#entries.size >= LIMITS.stashEntries.value ||
      this.#bytes + needed > LIMITS.stashBytes.value
    ) {
      const oldest = this.#oldestOfLargest(principal, needed);
      if (oldest === undefined) return;
      this.#drop(...oldest);
    }
  }

  /** The oldest result of whoever holds the most, by what each limit is a share of. */
  #oldestOfLargest(principal: string, needed: number): [string, Entry] | undefined {
    const share = (bytes: number) =>
      bytes / LIMITS.stashBytes.value + 1 / LIMITS.stashEntries.value;
    const held = new Map([[principal, share(needed)]]);
    for (const { bytes, principal: other } of this.#entries.values()) {
      held.set(other, (held.get(other) ?? 0) + share(bytes.length));
    }
    const holding = [...this.#entries];
    const most = Math.max(...holding.map(([, entry]) => held.get(entry.principal) ?? 0));
    return holding.find(([, entry]) => held.get(entry.principal) === most);
  }

  #drop(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#bytes -= entry.bytes.length;
  }
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
