// The fixture connectors as a deployment. CONNECTORS and TOOLS size the catalog; BULK=1 adds a large read.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { api } from "connecta";
import { findDriver } from "./driver.mjs";

const found = findDriver();
if (!found.ok) throw new Error(found.message);
const { fixtureConnectors } = await import(pathToFileURL(join(found.folder, "fixture.mjs")).href);

const count = Number(process.env.CONNECTORS ?? 3);
const each = Number(process.env.TOOLS ?? 30);
const fixtures = fixtureConnectors(count, each).map(({ tools, ...connector }) =>
  api({ ...connector, tools: Object.fromEntries(tools.map(({ name, ...tool }) => [name, tool])) }),
);

export default {
  name: "connecta bench",
  connectors: process.env.BULK === "1" ? [...fixtures, bulk()] : fixtures,
};

/** A connector whose one tool answers as many bytes as it is asked for. */
function bulk() {
  const row = (index) => ({
    id: `r${index}`,
    amount: index % 977,
    note: "as long as most notes are",
  });
  const rowBytes = JSON.stringify(row(100_000)).length + 1;
  // Made once: what is measured is the gateway, not this connector.
  const made = new Map();
  const rows = (bytes) =>
    Array.from({ length: Math.ceil(bytes / rowBytes) }, (_, index) => row(100_000 + index));
  return api({
    id: "bulk",
    description: "Large answers",
    tools: {
      rows: {
        description: "Rows of about this many bytes in all.",
        inputSchema: {
          type: "object",
          properties: { bytes: { type: "integer", minimum: 0, maximum: 8_388_608 } },
          required: ["bytes"],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
        handler: ({ bytes }) => {
          if (!made.has(bytes)) made.set(bytes, rows(bytes));
          return made.get(bytes);
        },
      },
    },
  });
}
