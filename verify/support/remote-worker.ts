import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import { remoteMcp } from "../../server/index.ts";
import { serve } from "../../server/worker/index.ts";

interface Bindings {
  readonly LOADER: ConstructorParameters<typeof DynamicWorkerExecutor>[0]["loader"];
  readonly SERVER: string;
}

/** A Worker in front of an MCP server, in either generation. */
export default serve((env: Bindings) => ({
  connectors: [
    remoteMcp({ id: "auto", url: env.SERVER }),
    remoteMcp({ id: "legacy", url: env.SERVER, protocol: "legacy" }),
  ],
  executor: new DynamicWorkerExecutor({ loader: env.LOADER }),
}));
