interface Bindings {
  readonly ONE: { fetch(request: Request): Promise<Response> };
}

/**
 * Stands before a Worker and leaves it in the middle of a request, as soon as an address answers
 * that the request names. A client that closes its connection is noticed late by a runtime on this
 * machine; whoever leaves from within is noticed at once, as everybody is in production.
 */
export default {
  async fetch(request: Request, { ONE }: Bindings): Promise<Response> {
    const until = request.headers.get("x-leave-after");
    if (until === null) return ONE.fetch(request);
    const leaving = new AbortController();
    const answer = ONE.fetch(new Request(request, { signal: leaving.signal }));
    const left = answer.then((response) => response.text()).catch(() => "left");
    await (await fetch(until)).text();
    leaving.abort();
    return new Response(await left);
  },
};
