import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import {
  api,
  createConnecta,
  storageActivity,
  type Connecta,
  type RequestContext,
} from "../../server/index.ts";
import { durableStorage, type StorageNamespace } from "../../server/worker/index.ts";
import { createDeployment, type DeploymentName } from "../suites/executor/deployment.ts";
import { connectors } from "../../verify/hostile/programs/connectors.mjs";
import { bare } from "./bare.ts";
import { naive } from "./naive.ts";
import { createShared } from "./shared.ts";

export { StorageObject } from "../../server/worker/index.ts";

interface Bindings {
  readonly LOADER: ConstructorParameters<typeof DynamicWorkerExecutor>[0]["loader"];
  readonly STORE: StorageNamespace<unknown>;
}

const made = new Map<string, Connecta>();

/**
 * A Worker that holds every deployment of the executor suite, chosen by a header, and some of its
 * own. All requests to it share one isolate, as requests in production may.
 */
export default {
  fetch(request: Request, env: Bindings, context: Required<RequestContext>): Promise<Response> {
    const name = request.headers.get("x-deployment") ?? "";
    if (name === "naive") return naive(request);
    if (name === "bare") return bare(new DynamicWorkerExecutor({ loader: env.LOADER }), request);
    const deployment = made.get(name) ?? create(name, env);
    made.set(name, deployment);
    // As the platform gave it: its methods work on nothing else.
    return deployment.fetch(request, context);
  },
};

function create(name: string, env: Bindings): Connecta {
  const executor = new DynamicWorkerExecutor({ loader: env.LOADER });
  if (name === "hostile") {
    const execute = { timeoutMs: 2_000 };
    return createConnecta({ connectors: connectors(api), executor, execute, log: () => undefined });
  }
  if (!name.startsWith("shared")) return createDeployment(name as DeploymentName, executor);
  const storage = durableStorage({ namespace: env.STORE, name });
  return createShared({ executor, storage, activity: storageActivity({ storage, flushMs: 0 }) });
}
