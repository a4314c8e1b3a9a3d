import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import type { Connector, Tool, ToolResult, Outcome } from "../../server/index.ts";
import { serve } from "../../server/worker/index.ts";

interface Bindings {
  readonly LOADER: ConstructorParameters<typeof DynamicWorkerExecutor>[0]["loader"];
  readonly TOOLS_URL: string;
  /** See `FixtureTools.described`. */
  readonly TOOLS: string;
}

type Described = Pick<Connector, "id"> & { readonly tools: readonly Tool[] };

/** The demo as a Worker: its tools answer where they can read a machine. */
export default serve((env: Bindings) => ({
  name: "connecta demo",
  connectors: (JSON.parse(env.TOOLS) as Described[]).map((one) => distant(one, env.TOOLS_URL)),
  executor: new DynamicWorkerExecutor({ loader: env.LOADER }),
}));

function distant({ tools, ...rest }: Described, url: string): Connector {
  return {
    ...rest,
    kind: "api",
    staticCatalog: true,
    listTools: () => Promise.resolve({ ok: true, value: tools }),
    async callTool(name, args, { signal }) {
      const body = JSON.stringify(args);
      const response = await fetch(`${url}/${rest.id}/${name}`, { method: "POST", body, signal });
      return (await response.json()) as Outcome<ToolResult>;
    },
  };
}
