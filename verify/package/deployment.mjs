/** The deployment that an installed package serves here. */
export const CONFIG = `import { api } from "connecta";

const numbers = api({
  id: "numbers",
  tools: {
    double: {
      description: "Double a number.",
      inputSchema: { type: "object", properties: { value: { type: "number" } } },
      annotations: { readOnlyHint: true },
      handler: ({ value }) => ({ value: value * 2 }),
    },
  },
});

export default { connectors: [numbers] };
`;
/** A program for it, whose result is 42, with a view. */
export const PROGRAM = `async () => {
  const { value } = await connecta.call("numbers.double", { value: 21 });
  await connecta.ui("<p>" + value + "</p>");
  return value;
}`;
