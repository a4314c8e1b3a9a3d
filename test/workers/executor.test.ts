import { executorSuite } from "../suites/executor/suite.ts";
import { send } from "./support.ts";

executorSuite(
  "Dynamic Workers",
  (deployment) =>
    Promise.resolve({
      fetch: (request) => send(deployment, request),
      close: () => Promise.resolve(),
    }),
  [],
);
