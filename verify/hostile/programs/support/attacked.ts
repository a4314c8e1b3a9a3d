import { afterAll, beforeAll } from "vitest";
import { startDeployment, type Deployment } from "./deployment.ts";
import { Gateway } from "./gateway.ts";
import { warmUp } from "./ordinary.ts";
import { residentMb } from "./processes.ts";
import { sandboxProcesses } from "./witnesses.ts";

/** A warm server for all tests of a file, and what it held before the first of them. */
export interface Attacked {
  readonly deployment: Deployment;
  readonly gateway: Gateway;
  readonly beforeMb: number;
}

/** Starts the server before the tests of a group and stops it after them. */
export function useServer(): () => Attacked {
  let attacked: Attacked;
  beforeAll(async () => {
    const deployment = await startDeployment();
    const gateway = new Gateway(deployment.origin);
    await sandboxProcesses(gateway);
    await warmUp(gateway);
    attacked = { deployment, gateway, beforeMb: residentMb(deployment.pid) };
  });
  afterAll(async () => {
    attacked.gateway.close();
    await attacked.deployment.stop();
  });
  return () => attacked;
}
