// @ts-check
import { api, tool } from "connecta";
import { z } from "zod";

/** A small stock that lives in this file, so that the deployment needs nothing else. */
const STOCK = [
  { sku: "A-100", name: "Desk lamp", on_hand: 14, minimum: 10 },
  { sku: "B-200", name: "Office chair", on_hand: 3, minimum: 5 },
  { sku: "C-300", name: "Whiteboard", on_hand: 0, minimum: 2 },
];

const item = z.object({
  sku: z.string(),
  name: z.string(),
  on_hand: z.int(),
  minimum: z.int(),
});

const stock = api({
  id: "stock",
  title: "Stock",
  description: "What is on the shelves",
  tools: {
    list_items: tool({
      description: "List the items of the stock, those below their minimum alone when asked.",
      inputSchema: z.object({ below_minimum: z.boolean().optional() }),
      outputSchema: z.object({ items: z.array(item), at: z.string() }),
      annotations: { readOnlyHint: true },
      handler: ({ below_minimum }, { now }) => ({
        items: STOCK.filter(({ on_hand, minimum }) => !below_minimum || on_hand < minimum),
        at: new Date(now()).toISOString(),
      }),
    }),
    order_item: tool({
      description: "Order some of an item from its supplier.",
      inputSchema: z.object({ sku: z.string(), count: z.int().min(1).max(100) }),
      annotations: { readOnlyHint: false, destructiveHint: true },
      handler: ({ sku, count }) => ({ ordered: count, sku }),
    }),
  },
});

/** The deployment: the same file serves on Node and, through worker.mjs, as a Worker. */
export default {
  name: "connecta stock",
  connectors: [stock],
};
