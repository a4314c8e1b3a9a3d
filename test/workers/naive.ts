let shared: AbortController | undefined;

/** What goes wrong when requests share what belongs to one of them: here the end of a deployment. */
export function naive(): Response {
  try {
    shared ??= new AbortController();
    return new Response(String(shared.signal.aborted));
  } catch (error) {
    return new Response(error instanceof Error ? error.message : "");
  }
}
