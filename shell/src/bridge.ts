import {
  VIEW_LIMITS,
  isReadName,
  type Binding,
  type Manifest,
} from "../../server/view/protocol.ts";
import { mergeArguments } from "./arguments.ts";
import { readFailure } from "./failures.ts";
import type { ReadFailure, ReadReply } from "./messages.ts";
import type { ReadOutcome } from "./unwrap.ts";
import { clamp } from "./words.ts";

const NAMES_CHARS = 200;

/** One `call_tool` in value mode through the host; never rejects. */
export type CallTool = (
  call: { readonly address: string; readonly args: Record<string, unknown> },
  signal: AbortSignal,
) => Promise<ReadOutcome>;

/** The reads of one render. */
export interface Bridge {
  /** Rejects what is in flight and takes no further read. */
  close(reason: ReadFailure): void;
}

/**
 * Serves the reads of one render over the one port that its document handed out. Everything that
 * arrives is untrusted; the other end can do nothing but choose a declared name and arguments.
 */
export function serveReads(port: MessagePort, reads: Manifest, callTool: CallTool): Bridge {
  const inFlight = new Set<number>();
  const ended = new AbortController();
  const declared = clamp(Object.keys(reads).join(", "), NAMES_CHARS);
  const unknown = `The view declared no such read; it declared: ${declared}.`;

  const reply = (id: number, outcome: ReadOutcome) => {
    const message: ReadReply = { id, ...outcome };
    port.postMessage(message);
  };
  const refuse = (id: number, error: ReadFailure) => reply(id, { ok: false, error });
  /** A value nested without end parses, but cannot be sent: the read fails instead of waiting for ever. */
  const deliver = (id: number, outcome: ReadOutcome) => {
    try {
      reply(id, outcome);
    } catch {
      refuse(id, readFailure("result_too_large", "The answer cannot be handed to a view."));
    }
  };

  port.onmessage = async ({ data }: MessageEvent<unknown>) => {
    const { id, name, args } = asRequest(data);
    if (id === undefined || inFlight.has(id)) return;
    const binding = bindingOf(reads, name);
    if (!binding) return refuse(id, readFailure("unknown_read", unknown));
    const merged = mergeArguments(binding, args);
    if (!merged.ok) return refuse(id, readFailure("invalid_args", merged.message));
    if (inFlight.size >= VIEW_LIMITS.concurrentReads) {
      const message = `A view runs at most ${VIEW_LIMITS.concurrentReads} reads at once.`;
      return refuse(id, readFailure("too_many_reads", message));
    }
    inFlight.add(id);
    const { address } = binding;
    const outcome = await callTool({ address, args: merged.value }, ended.signal);
    if (inFlight.delete(id)) deliver(id, nameless(outcome, address, String(name)));
  };

  return {
    close(reason) {
      for (const id of inFlight) refuse(id, reason);
      inFlight.clear();
      ended.abort();
      port.close();
    },
  };
}

function asRequest(data: unknown): { id?: number; name?: unknown; args?: unknown } {
  if (typeof data !== "object" || data === null || !("id" in data)) return {};
  if (typeof data.id !== "number" || !Number.isSafeInteger(data.id)) return {};
  return {
    id: data.id,
    name: "name" in data ? data.name : undefined,
    args: "args" in data ? data.args : undefined,
  };
}

/** By own property, so that no inherited name is a read. */
function bindingOf(reads: Manifest, name: unknown): Binding | undefined {
  if (typeof name !== "string" || !isReadName(name)) return undefined;
  return Object.hasOwn(reads, name) ? reads[name] : undefined;
}

/** The view knows its read by name alone, in errors too. */
function nameless(outcome: ReadOutcome, address: string, name: string): ReadOutcome {
  if (outcome.ok) return outcome;
  const message = outcome.error.message.replaceAll(address, name);
  return { ok: false, error: { ...outcome.error, message } };
}
