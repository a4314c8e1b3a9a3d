import { drive, measured } from "../driver.mjs";
import { Client } from "../client.mjs";
import { atLeastTimes, atMost, atMostTimes } from "../table.mjs";

const ONLY = "only=^(tools_list|call_read)$";

/** What every request pays: the tool list and an instant call, on both protocol generations. */
export async function calls({ folder, ours, sdk, echo, load }) {
  const at = (server) => `${server.url};pid=${server.pid};${ONLY}`;
  const targets = [
    `sdk=${at(sdk)}`,
    `us=${at(ours)}`,
    `sdk-modern=${at(sdk)};era=modern`,
    `us-modern=${at(ours)};era=modern`,
    `echo=${at(echo)}`,
  ];
  // Every target is warmed alike: the first thousand requests of a process are slower.
  const { results, options } = await drive(folder, targets, {
    ...load,
    cases: "^(tools_list|call_read)$",
    conc: "1,8",
  });
  const rows = [
    ...generation("2025", results, "us", "sdk"),
    ...generation("2026-07-28", results, "us-modern", "sdk-modern"),
  ];
  const { p50, p95 } = measured(results, "us", "call_read").seq;
  rows.push(atMost("calls: p95 / p50 of call_tool", "×", p95 / p50, 3));
  rows.push(await listBytes(ours));
  return { rows, raw: { options, results } };
}

function generation(name, results, us, sdk) {
  const rate = (target, one) => measured(results, target, one).conc[8].rps;
  const p50 = (target, one) => measured(results, target, one).seq.p50;
  const row = (what) => `calls: ${what} (${name})`;
  return [
    atMostTimes(row("tools/list"), "ms", p50(us, "tools_list"), p50(sdk, "tools_list"), 1.2),
    atLeastTimes(
      row("tools/list, 8 at once"),
      "/s",
      rate(us, "tools_list"),
      rate(sdk, "tools_list"),
      0.8,
    ),
    atMostTimes(row("call_tool, instant"), "ms", p50(us, "call_read"), p50(sdk, "call_read"), 1.5),
    atLeastTimes(
      row("call_tool, 8 at once"),
      "/s",
      rate(us, "call_read"),
      rate(sdk, "call_read"),
      0.6,
    ),
  ];
}

async function listBytes(ours) {
  const client = new Client(ours.url);
  const { result } = await client.send("tools/list", {});
  client.close();
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return atMost("always-loaded: tools/list result", "bytes", bytes, 6_000);
}
