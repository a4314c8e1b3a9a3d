import { openCatalogRoom } from "../catalog-room.mjs";
import { atMost } from "../table.mjs";

/** As many tools as the eighty servers have whose catalogs the goals were set on. */
const TOOLS = 3_700;

/** What discovery costs by itself: an index of many tools, and one query over it. */
export async function catalogs() {
  const room = await openCatalogRoom();
  const { indexMs, p50, p95 } = await room.madeUp(TOOLS);
  const rows = [
    atMost(`catalogs: index of ${TOOLS} tools`, "ms", indexMs, 500),
    atMost(`catalogs: one query over ${TOOLS} tools, p50`, "ms", p50, 1),
  ];
  return { rows, raw: { indexMs, p50, p95 } };
}
