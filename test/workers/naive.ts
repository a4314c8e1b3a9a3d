let shared: Request | undefined;

/** What goes wrong when requests share what belongs to one of them: the second reads the first. */
export async function naive(request: Request): Promise<Response> {
  try {
    shared ??= request;
    return new Response(`read ${await shared.clone().text()}`);
  } catch (error) {
    return new Response(error instanceof Error ? error.message : "");
  }
}
