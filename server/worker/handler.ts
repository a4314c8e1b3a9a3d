import { createConnecta, type Connecta, type ConnectaConfig } from "../index.ts";

/** What the runtime calls: structurally the default export of a Worker. */
export interface WorkerHandler<Env> {
  fetch(
    request: Request,
    env: Env,
    context: { waitUntil(task: Promise<unknown>): void },
  ): Promise<Response>;
}

/**
 * Serves a deployment as a Worker. It is assembled with the first request of an isolate, since
 * bindings are there and random values allowed only then, and lives as long as the isolate.
 * @param configure the deployment for these bindings; a mistake in it fails every request
 */
export function serve<Env>(configure: (env: Env) => ConnectaConfig): WorkerHandler<Env> {
  let deployment: Connecta | undefined;
  return {
    async fetch(request, env, context) {
      deployment ??= createConnecta(configure(env));
      return deployment.fetch(request, { waitUntil: (task) => context.waitUntil(task) });
    },
  };
}
