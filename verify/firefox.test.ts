import { beforeAll, describe } from "vitest";
import { findFirefox } from "./firefox/firefox.ts";
import { checkBusy, checkOther, checkTable } from "./threats/checks.ts";
import { NO_NETWORK, runIn } from "./threats/isolation.ts";
import type { Run } from "./threats/main.ts";
import { allowlistTables } from "./threats/vectors/table.ts";

const MISSING = findFirefox() === undefined;
const where = NO_NETWORK ? `over loopback, as ${NO_NETWORK}` : "in a network of its own";
const title = MISSING ? "skipped, no Firefox was found: install one, or set FIREFOX_PATH" : where;

describe.skipIf(MISSING)(`Firefox, ${title}`, () => {
  let run: Run;
  beforeAll(async () => {
    run = await runIn("firefox");
  }, 300_000);

  checkTable("firefox", () => run);
  describe("a host that allows no connection", () => {
    for (const vector of allowlistTables("firefox").flat()) {
      checkOther("firefox", () => run.allowlist, "allowlisted", vector);
    }
  });
  describe("a program that goes on and on", () => {
    checkBusy("firefox", () => run);
  });
});
