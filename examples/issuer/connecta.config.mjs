// @ts-check
import { api } from "connecta";
import { sqliteStorage } from "connecta/node";

const clock = api({
  id: "clock",
  tools: {
    now: {
      description: "What time it is where this runs.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: true },
      handler: () => ({ now: new Date().toISOString() }),
    },
  },
});

export default {
  connectors: [clock],
  storage: sqliteStorage({ file: process.env.CONNECTA_STORE ?? "data/connecta.db" }),
};
