import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "./support/chromium.ts";
import { checkBusy, checkOther, checkTable } from "./threats/checks.ts";
import { NO_NETWORK, runIn } from "./threats/isolation.ts";
import type { Run } from "./threats/main.ts";
import { byRow, documentedTable } from "./threats/report.ts";
import { NONCE } from "./threats/vectors/nonce.ts";
import { allowlistTables, TABLE } from "./threats/vectors/table.ts";

const where = NO_NETWORK ? `over loopback, as ${NO_NETWORK}` : "in a network of its own";

describe(`Chromium, ${where}`, () => {
  let run: Run;
  beforeAll(async () => {
    run = await runIn("chromium");
  }, 300_000);

  checkTable("chromium", () => run);
  describe("a host that allows no connection", () => {
    for (const vector of allowlistTables("chromium").flat()) {
      checkOther("chromium", () => run.allowlist, "allowlisted", vector);
    }
  });
  describe("a program that goes on and on", () => {
    checkBusy("chromium", () => run);
  });
  describe("a policy by nonce, which the view does not have", () => {
    for (const vector of NONCE) checkOther("chromium", () => run.nonce, "nonced", vector);
  });
});

describe("the table", () => {
  const REQUIRED =
    "fetch, XMLHttpRequest, WebSocket, EventSource, WebTransport, WebRTC, sendBeacon, " +
    "Pictures and media, Objects, Style sheets, Fonts, Prefetch, Preconnect, DNS prefetch, " +
    "Preload and modulepreload, Speculation rules, Nested frames by address, " +
    "Nested frames by srcdoc, Workers, Service workers, Forms, Links with a target, " +
    "window.open(), Refresh by meta, Location of itself, Location of the parent, " +
    "Location of the top, Base address, History, javascript:, data: and blob: addresses, " +
    "ping and download, JSON-RPC to the shell, JSON-RPC to the host, Forged replies, " +
    "Forged ports, Late ports, Replayed ports, Flooding, Strings of 100 MB, Alerts, " +
    "Clobbered names, Polluted Object.prototype, Replaced window.parent, " +
    "Replaced MessagePort.prototype, Replaced Promise, document.open() and write(), " +
    "Links in a closed shadow tree";

  test("has a row for every threat that is asked about, and no name twice in a row", () => {
    const rows = byRow(TABLE);
    const asked = REQUIRED.replace("javascript:, data: and", "javascript: data: and").split(", ");
    const known = [...rows.keys()].map((row) => row.replace("javascript:,", "javascript:"));
    expect(asked.filter((row) => !known.includes(row))).toEqual([]);
    for (const [row, vectors] of rows) {
      const names = vectors.map(({ name }) => name);
      expect([row, new Set(names).size]).toEqual([row, names.length]);
    }
  });

  test("stands in the documentation, with what was measured", () => {
    const page = readFileSync(`${ROOT}documentation/security.md`, "utf8");
    const lines = page.split("\n");
    const head = lines.indexOf("| threat | Chromium | Firefox |");
    const end = lines.findIndex((line, at) => at > head && !line.startsWith("|"));
    expect(lines.slice(head + 2, end)).toEqual(documentedTable());
  });
});
