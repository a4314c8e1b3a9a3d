/** The `usage` guide: how to write programs and views, for models. */
export const USAGE = `# Using connecta

Write one program instead of many calls. It runs beside the integrations; only what it returns
reaches the conversation.

\`\`\`js
async () => {
  const { tools } = await connecta.search({ query: "open invoices", includeSchemas: true });
  console.log(tools.map((tool) => tool.address));
  const { invoices } = await connecta.call("billing.list_invoices", { status: "open" });
  const total = invoices.reduce((sum, invoice) => sum + invoice.amount, 0);
  return { count: invoices.length, total };
}
\`\`\`

## What a program has
- \`connecta.search({ query?, connector?, safety?, limit?, offset?, includeSchemas? })\` gives
  \`{ tools, total, hasMore }\`; \`connecta.describe({ address })\` the exact schemas of one tool.
- \`connecta.call(address, args)\` resolves to the value. \`connecta.batch([{ address, args }])\`
  calls up to 10 at once and answers each with \`{ address, ok, data | error }\`.
- A shortcut per connector: \`await crm.get_record({ id })\`.
- \`connecta.emit({ type: "text", text })\`, or \`{ type: "image", data, mimeType }\` with base64
  data: delivered after the result, up to 32 blocks.
- \`console.log\`: returned as \`logs\`, also when the program fails.
- Limits: 20 host calls (calls, searches and describes together), 250 ms of computing, 30 s in
  all, 24,000 characters returned. Filter and project before returning.
- A failed call throws an Error with \`code\`, \`retryable\` and often \`nextAction\`.
- Only tools marked read-only run here. For any other, make one \`call_destructive_tool\` call.

## Views
\`await connecta.ui(html)\` shows the person a page; at most one per run. You never see it: return
the summary that it shows. The HTML runs in a frame that can fetch nothing: inline every style and
script, escape every value from data, use host colours such as \`var(--color-text-primary)\`.

A view that shows changing data declares named reads, and calls them itself:

\`\`\`js
await connecta.ui(html, {
  reads: {
    refresh: { address: "metrics.current", fixedArgs: { service: "api" } },
    page: { address: "tickets.list", viewArgs: ["cursor"] },
  },
});
// inside the HTML: const page = await connecta.read("page", { cursor });
\`\`\`

A read reaches exactly the named tool, with the fixed arguments and only the listed keys from the
view. In every view with reads:
- disable the control while its read is pending, and show an error's message where it happened;
- say what was refreshed and when, next to the data: your summary describes the first state only;
- keep it readable in light and dark, from 320 px of width, and with the keyboard.

## When something fails
Read \`error.code\`. \`nextAction\` is the exact call that leads further; what its \`omits\` names, add
as you sent it. Retry only what says \`retryable: true\`, after \`retryAfterMs\` when given.
`;
