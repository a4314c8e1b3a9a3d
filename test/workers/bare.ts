import type { DynamicWorkerExecutor } from "@cloudflare/codemode";

/** What a program reaches that the executor runs by itself: each attack lands here. */
export async function bare(executor: DynamicWorkerExecutor, request: Request): Promise<Response> {
  const code = `async () => { ${await request.text()} }`;
  const given: unknown[] = [];
  const fns = {
    call: async (...args: unknown[]) => {
      given.push(args);
      return "host";
    },
  };
  const answer = await executor.execute(code, [{ name: "connecta", fns }]).then(
    ({ result, error, logs }) => ({
      result: typeof result === "function" ? "a function of the program" : result,
      ...(error !== undefined && { error: typeof error === "string" ? error : "no text" }),
      logs: Array.isArray(logs) ? logs : "no list",
    }),
    (error: unknown) => ({ failed: String(error) }),
  );
  return Response.json({ ...answer, given });
}
