import { LIMITS, type HttpLimits } from "../shared/limits.ts";
import type { QueueState } from "../shared/observation.ts";
import { Permits, type Held } from "../shared/permits.ts";
import { refuse } from "./refusal.ts";

const RETRY_AFTER_S = 1;

/** From the body of a request to the end of its answer, in milliseconds. */
const LONGEST_MS = LIMITS.maxCallTimeoutMs.value + LIMITS.answerStallMs.value;

type OnEnd = (request: Request, callback: () => void) => boolean;

/** What one admitted request has. */
export interface Admitted {
  /**
   * Counts a body of several messages as so many requests.
   * @returns the refusal when there is no room for them
   */
  count(messages: number): Response | undefined;
}

/** Admits requests: so many at once, so many that wait, each for so long. */
export class Requests {
  readonly #permits: Permits;
  readonly #held = new WeakMap<Request, { readonly held: Held; messages: number }>();
  readonly #limits: HttpLimits;
  readonly #onEnd: OnEnd | undefined;

  /** @param onEnd tells when an answer was sent, where the runtime knows; false where not */
  constructor(limits: HttpLimits, onEnd?: OnEnd) {
    this.#onEnd = onEnd;
    this.#limits = limits;
    this.#permits = new Permits({
      active: limits.maxRequests,
      queued: limits.maxQueuedRequests,
      waitMs: limits.queueTimeoutMs,
      // A runtime that tells of no end may have ended a request without a word.
      heldMs: onEnd ? undefined : limits.bodyTimeoutMs + LONGEST_MS,
    });
  }

  /** Requests that are served and that wait for it. */
  get queue(): QueueState {
    return this.#permits;
  }

  /** Answers a request with a permit, which is held until the body of the answer ended. */
  async admit(
    request: Request,
    answer: (admitted: Admitted) => Promise<Response>,
  ): Promise<Response> {
    // Mostly there is room, and then nothing has to be awaited.
    const isFree = this.#permits.waiting === 0;
    const held = (isFree && this.#permits.take()) || (await this.#permits.acquire(request.signal));
    if (!held.ok) return busy();
    const entry = { held, messages: 1 };
    this.#held.set(request, entry);
    const count = (messages: number) => {
      if (messages <= 1) return undefined;
      if (messages > this.#limits.maxRequests || !held.resize(messages)) return busy();
      entry.messages = messages;
      return undefined;
    };
    const isFollowed = this.#onEnd?.(request, held.release) ?? false;
    try {
      const response = await answer({ count });
      return isFollowed ? response : released(response, held.release);
    } catch (error) {
      held.release();
      throw error;
    }
  }

  /** Gives back early what one message of a request holds: it is admitted elsewhere from now on. */
  handOver(request: Request): void {
    const entry = this.#held.get(request);
    if (!entry || entry.messages === 0) return;
    entry.held.resize(--entry.messages);
  }

  /** Refuses requests that wait or come later. */
  close(): void {
    this.#permits.close();
  }
}

function busy(): Response {
  return refuse(503, "Too many requests at once: try again in a moment.", {
    "retry-after": String(RETRY_AFTER_S),
  });
}

/** The same answer, which calls back once when its body ended, was cancelled or is not taken. */
function released(response: Response, release: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    release();
    return response;
  }
  let stalled: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(stalled);
    release();
  };
  const watch = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    stalled = setTimeout(() => {
      end();
      controller.error(new Error("The client does not take its answer."));
      void reader.cancel().catch(() => undefined);
    }, LIMITS.answerStallMs.value);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stalled);
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return watch(controller);
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      cancel(reason) {
        end();
        return reader.cancel(reason).catch(() => undefined);
      },
    },
    // Nothing is taken from the answer before somebody wants it.
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
