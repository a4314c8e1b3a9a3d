import { env } from "cloudflare:test";
import { executorSuite } from "../suites/executor/suite.ts";

executorSuite(
  "Dynamic Workers",
  async (deployment) => ({
    fetch: (request) => {
      const headers = new Headers(request.headers);
      headers.set("x-deployment", deployment);
      return env.GATEWAY.fetch(new Request(request, { headers }));
    },
    close: async () => {},
  }),
  [],
);
