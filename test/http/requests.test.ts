import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Requests } from "../../server/http/requests.ts";
import { defaultHttpLimits } from "../../server/shared/limits.ts";

function requests(limits: Partial<ReturnType<typeof defaultHttpLimits>> = {}) {
  return new Requests({ ...defaultHttpLimits(), maxRequests: 2, maxQueuedRequests: 1, ...limits });
}

const loadOf = ({ queue: { active, waiting } }: Requests) => ({ active, waiting });

function request(signal?: AbortSignal): Request {
  return new Request("http://127.0.0.1/mcp", { method: "POST", ...(signal && { signal }) });
}

/** An answer whose body ends, fails or is cancelled when a test wants it to. */
function answer() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const state = { cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    start: (own) => {
      controller = own;
    },
    cancel: () => {
      state.cancelled = true;
    },
  });
  return {
    state,
    response: new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } }),
    send: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    fail: () => controller?.error(new Error("lost")),
  };
}

const refusalOf = async (response: Response) => ({
  status: response.status,
  retryAfter: response.headers.get("retry-after"),
  body: (await response.json()) as unknown,
});

describe("a request that ends without a word", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const limits = { ...defaultHttpLimits(), maxRequests: 1, maxQueuedRequests: 0 };
  const after = async (level: Requests, ms: number) => {
    void level.admit(request(), () => new Promise(() => {}));
    await vi.advanceTimersByTimeAsync(ms);
    return (await level.admit(request(), async () => new Response("served"))).status;
  };

  test("holds its permit no longer than a request can take", async () => {
    // A body, the longest call, and a client that takes nothing of its answer.
    expect(await after(new Requests(limits), 190_000)).toBe(503);
    expect(await after(new Requests(limits), 190_001)).toBe(200);
  });

  test("holds it until its end where the runtime tells of every end", async () => {
    expect(await after(new Requests(limits, () => true), 86_400_000)).toBe(503);
  });
});

describe("the permit of a request", () => {
  test("is held until the body of its answer has ended", async () => {
    const level = requests();
    const { response, send, end } = answer();
    const answered = await level.admit(request(), async () => response);
    expect(answered.headers.get("content-type")).toBe("text/event-stream");
    send("one ");
    send("two");
    expect(loadOf(level)).toEqual({ active: 1, waiting: 0 });
    end();
    expect(await answered.text()).toBe("one two");
    expect(loadOf(level)).toEqual({ active: 0, waiting: 0 });
  });

  test("is given back when the client lets go of the answer", async () => {
    const level = requests();
    const { response, state } = answer();
    const answered = await level.admit(request(), async () => response);
    await answered.body?.cancel();
    expect(level.queue.active).toBe(0);
    expect(state.cancelled).toBe(true);
  });

  test("is given back when the answer breaks off", async () => {
    const level = requests();
    const { response, fail } = answer();
    const answered = await level.admit(request(), async () => response);
    fail();
    await expect(answered.text()).rejects.toThrow("lost");
    expect(level.queue.active).toBe(0);
  });

  test("is given back for an answer without a body, and for none at all", async () => {
    const level = requests();
    await level.admit(request(), async () => new Response(null, { status: 202 }));
    const failed = level.admit(request(), () => Promise.reject(new Error("broken")));
    await expect(failed).rejects.toThrow("broken");
    expect(level.queue.active).toBe(0);
  });

  test("is given back early when the request is admitted elsewhere", async () => {
    const level = requests();
    const one = request();
    const { response } = answer();
    await level.admit(one, async () => response);
    level.handOver(one);
    expect(level.queue.active).toBe(0);
    level.handOver(one);
    level.handOver(request());
    expect(level.queue.active).toBe(0);
  });

  test("counts each message of a batch, and each is given back for itself", async () => {
    const level = requests({ maxRequests: 5 });
    const one = request();
    const { response } = answer();
    await level.admit(one, async ({ count }) => {
      expect(count(4)).toBeUndefined();
      return response;
    });
    expect(level.queue.active).toBe(4);
    level.handOver(one);
    expect(level.queue.active).toBe(3);
    const second = await level.admit(request(), async ({ count }) => {
      return count(4) ?? new Response("admitted");
    });
    expect(second.status).toBe(503);
    const never = await level.admit(request(), async ({ count }) => {
      return count(6) ?? new Response("admitted");
    });
    expect(never.status).toBe(503);
    await Promise.all([second.text(), never.text()]);
    expect(level.queue.active).toBe(3);
  });
});

describe("a request that finds no permit", () => {
  const held = async (level: Requests, count: number) => {
    const answers = Array.from({ length: count }, answer);
    await Promise.all(answers.map(({ response }) => level.admit(request(), async () => response)));
    return answers;
  };

  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("waits so long, and is then told when to try again", async () => {
    const level = requests();
    await held(level, 2);
    const work = vi.fn<() => Promise<Response>>();
    const waiting = level.admit(request(), work);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(loadOf(level)).toEqual({ active: 2, waiting: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(await refusalOf(await waiting)).toEqual({
      status: 503,
      retryAfter: "1",
      body: {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32_000, message: "Too many requests at once: try again in a moment." },
      },
    });
    expect(work).not.toHaveBeenCalled();
  });

  test("is refused at once when too many wait already", async () => {
    const level = requests();
    await held(level, 2);
    void level.admit(request(), async () => new Response());
    await vi.advanceTimersByTimeAsync(0);
    const work = vi.fn<() => Promise<Response>>();
    expect((await level.admit(request(), work)).status).toBe(503);
    expect(work).not.toHaveBeenCalled();
    expect(loadOf(level)).toEqual({ active: 2, waiting: 1 });
  });

  test("leaves the queue at once when its client goes away", async () => {
    const level = requests();
    await held(level, 2);
    const leaving = new AbortController();
    const work = vi.fn<() => Promise<Response>>();
    const waiting = level.admit(request(leaving.signal), work);
    await vi.advanceTimersByTimeAsync(0);
    expect(level.queue.waiting).toBe(1);
    leaving.abort();
    await waiting;
    expect(level.queue.waiting).toBe(0);
    expect(work).not.toHaveBeenCalled();
  });

  test("a client that takes nothing of its answer loses its place", async () => {
    const level = requests();
    const first = answer();
    const answered = await level.admit(request(), async () => first.response);
    first.send("one");
    first.send("two");
    const reader = answered.body?.getReader();
    await reader?.read();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(level.queue.active).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(level.queue.active).toBe(0);
    expect(first.state.cancelled).toBe(true);
  });

  test("an answer that takes its time is not one that nobody takes", async () => {
    const level = requests();
    const slow = answer();
    const answered = await level.admit(request(), async () => slow.response);
    const text = answered.text();
    await vi.advanceTimersByTimeAsync(240_000);
    expect(level.queue.active).toBe(1);
    slow.send("late");
    slow.end();
    expect(await text).toBe("late");
  });

  test("closing refuses who waits and who comes later", async () => {
    const level = requests();
    await held(level, 2);
    const waiting = level.admit(request(), async () => new Response());
    level.close();
    expect((await waiting).status).toBe(503);
    expect((await level.admit(request(), async () => new Response())).status).toBe(503);
  });
});
