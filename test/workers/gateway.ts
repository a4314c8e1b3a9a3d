import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import type { Connecta } from "../../server/index.ts";
import { createDeployment, type DeploymentName } from "../suites/executor/deployment.ts";

interface Bindings {
  readonly LOADER: ConstructorParameters<typeof DynamicWorkerExecutor>[0]["loader"];
}

const made = new Map<DeploymentName, Connecta>();

/** A Worker that holds every deployment of the executor suite, chosen by a header. */
export default {
  fetch(request: Request, env: Bindings): Promise<Response> {
    const name = request.headers.get("x-deployment") as DeploymentName;
    const executor = new DynamicWorkerExecutor({ loader: env.LOADER });
    const deployment = made.get(name) ?? createDeployment(name, executor);
    made.set(name, deployment);
    return deployment.fetch(request);
  },
};
