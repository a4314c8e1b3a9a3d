// The deployment that workers.mjs serves: one instant read and one that waits.
import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import { api } from "connecta";
import { serve } from "connecta/worker";

const READ = { readOnlyHint: true };
const ANY = { type: "object" };

const crm = api({
  id: "crm",
  tools: {
    get_record: {
      description: "Get one customer record by its id.",
      inputSchema: ANY,
      annotations: READ,
      handler: ({ id }) => ({ id, name: `Record ${id}` }),
    },
    slow_read: {
      description: "Answer after some milliseconds.",
      inputSchema: ANY,
      annotations: READ,
      handler: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(ms), ms)),
    },
  },
});

export default serve((env) => ({
  connectors: [crm],
  executor: new DynamicWorkerExecutor({ loader: env.LOADER }),
}));
