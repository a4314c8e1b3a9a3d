import { expect, test } from "vitest";
import { api, createConnecta } from "../../server/index.ts";
import { toUtf8 } from "../../server/shared/text.ts";
import { rpc } from "../support/gateway.ts";

const executor = { execute: () => Promise.resolve({ result: undefined }) };

function deployment(ids: readonly string[]) {
  const connectors = ids.map((id) => api({ id, tools: {} }));
  return createConnecta({ connectors, executor });
}

test("G8: tools/list takes at most 6,000 bytes with three connectors", async () => {
  const connecta = deployment(["crm", "tickets", "billing"]);
  const { result } = await rpc(connecta, "tools/list");
  expect(toUtf8(JSON.stringify(result)).length).toBeLessThanOrEqual(6_000);
});

test("G8: the inventory of many connectors stays within 256 bytes and says how many more", async () => {
  const connecta = deployment(Array.from({ length: 90 }, (_, i) => `connector-number-${i}`));
  const { result } = await rpc(connecta, "tools/list");
  const [execute] = result.tools as { description: string }[];
  const inventory = execute?.description.split("\n").at(-1) ?? "";
  expect(toUtf8(inventory).length).toBeLessThanOrEqual(256);
  const shown = inventory.split(", ").length - 1;
  expect(inventory).toMatch(new RegExp(`\\+${90 - shown} more$`));
});
