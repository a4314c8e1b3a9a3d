/** One request of a view, as the host page tells the test of it. */
export interface Report {
  readonly method: string;
  readonly params: unknown;
  /** Requests that were unanswered when this one came, itself counted. */
  readonly inFlight: number;
}

/** What the host page needs beside itself: answers every request after a turn, and reports it. */
export default function reporter(path: string): void {
  const clip = (_key: string, value: unknown) =>
    typeof value === "string" && value.length > 1_000 ? { characters: value.length } : value;
  let unsent: Report[] = [];
  let inFlight = 0;
  const flush = () => {
    void fetch(path, { method: "POST", body: JSON.stringify(unsent, clip) });
    unsent = [];
  };
  const report = (one: Report) => {
    if (unsent.length === 0) setTimeout(flush);
    unsent.push(one);
  };
  const answer = async (method: string, params: unknown) => {
    inFlight++;
    report({ method, params, inFlight });
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight--;
    const envelope = { ok: true, data: "from the host" };
    return {
      content: [{ type: "text", text: JSON.stringify(envelope) }],
      structuredContent: envelope,
    };
  };
  Object.assign(window, { answer });
}
