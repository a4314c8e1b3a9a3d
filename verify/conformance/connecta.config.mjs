// A deployment as small as any: what is judged is the gateway, not what stands behind it.
import { api } from "connecta";

const numbers = api({
  id: "numbers",
  tools: {
    double: {
      description: "Double a number.",
      inputSchema: { type: "object", properties: { value: { type: "number" } } },
      annotations: { readOnlyHint: true },
      handler: ({ value = 0 }) => ({ value: value * 2 }),
    },
  },
});

export default { connectors: [numbers] };
