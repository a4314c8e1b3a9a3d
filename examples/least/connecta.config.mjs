import { readdir } from "node:fs/promises";
import { api } from "connecta";

const downloads = api({
  id: "downloads",
  tools: {
    list: {
      description: "List the names in a folder of mine.",
      inputSchema: { type: "object", properties: { folder: { type: "string" } } },
      annotations: { readOnlyHint: true },
      handler: ({ folder = "." }) => readdir(folder),
    },
  },
});

export default { connectors: [downloads] };
