import { quickjsExecutor } from "../../../server/sandbox/pool.ts";
import { createDeployment } from "./deployment.ts";
import { executorSuite } from "./suite.ts";

/** One process carries the runs of all deployments: it must keep their limits apart. */
const shared = quickjsExecutor({ processes: 1 });

executorSuite(
  "QuickJS",
  async (deployment) => {
    // A bound on a process's memory holds for everyone who shares the process.
    const executor = deployment === "crowded" ? quickjsExecutor({ processes: 1 }) : shared;
    await executor.warm();
    return createDeployment(deployment, executor);
  },
  ["cpu", "heap", "stack", "stall", "shared heap"],
);
