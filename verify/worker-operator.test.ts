import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Browser } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "../examples/issuer/deployment.mjs";
import { memoryStorage } from "../server/index.ts";
import { called, SECRET } from "./operator/deployment.ts";
import { go, signedIn } from "./operator/person.ts";
import { clock, PASSPHRASE } from "./sign-in/clock.ts";
import { bundled } from "./support/bundle.ts";
import { launchChromium, mustBeQuiet, OUT, ROOT } from "./support/chromium.ts";
import { startIsolates, type Isolates } from "./support/isolates.ts";
import { appears, eventually } from "./support/page.ts";

const PAGES = ["Connections", "Tools", "Credentials", "Tokens", "Activity"];
/** What the page for users names, and stands somewhere else in a test. */
const SERVER = "https://mcp.linear.app/mcp";
const OWN = "https://connecta.example.com";

let browser: Browser;
let theirs: Awaited<ReturnType<typeof serve>>;
let worker: Isolates;
beforeAll(async () => {
  const [script, started, server] = await Promise.all([
    documented(),
    launchChromium(),
    serve({ connectors: [clock], storage: memoryStorage() }, { passphrase: PASSPHRASE }),
  ]);
  [browser, theirs] = [started, server];
  const located = script.replaceAll(SERVER, `${theirs.url}/mcp`);
  worker = await startIsolates({
    script: (url) => located.replaceAll(OWN, url),
    bindings: () => ({
      CONNECTA_VAULT_KEY: Buffer.alloc(32, 7).toString("base64"),
      CONNECTA_OPERATOR_SECRET: SECRET,
    }),
  });
});
afterAll(async () => {
  await worker.close();
  await browser.close();
  await theirs.close();
});

/** The Worker that documentation/workers.md offers, as it stands there. */
async function documented(): Promise<string> {
  const page = readFileSync(`${ROOT}documentation/workers.md`, "utf8");
  const blocks = [...page.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code = ""]) => code);
  const [code = "", ...more] = blocks.filter((block) => block.includes("operator:"));
  expect(more).toEqual([]);
  mkdirSync(OUT, { recursive: true });
  writeFileSync(`${OUT}worker.mjs`, code);
  return bundled(ROOT, `${OUT}worker.mjs`, {
    "connecta/worker": `${ROOT}server/worker/index.ts`,
    connecta: `${ROOT}server/index.ts`,
  });
}

test("an operator with a browser makes the documented Worker ready for a caller, and new isolates stay so", async () => {
  const { url } = worker;
  const watched = await signedIn(browser, url);
  const { page, context } = watched;
  await go(page, "Tokens");
  await page.getByLabel("Name of a new token").fill("laptop");
  await page.getByRole("button", { name: "Create" }).click();
  const token = (await page.getByText(/^connecta_[0-9a-f]{16}_/).textContent()) ?? "";

  await go(page, "Credentials");
  await page.getByRole("button", { name: "Authorize linear" }).click();
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: /^Go on at/ }).click();
  const consent = await opened;
  await consent.getByLabel("Your passphrase").fill(PASSPHRASE);
  await consent.getByRole("button", { name: "Let it in" }).click();
  await appears(consent.getByText("linear is connected."));

  const ask = async () => {
    const args = { address: "linear.call_tool", args: { address: "clock.now" } };
    return JSON.stringify(await called(url, token, "call_destructive_tool", args));
  };
  expect(await ask()).toContain("noon");
  await worker.restart();
  expect(await ask()).toContain("noon");
  for (const name of PAGES) await go(page, name);
  await page.getByLabel("Follow").check();
  await eventually(() => page.getByRole("cell", { name: "linear.call_tool" }).count()).toBe(2);
  mustBeQuiet(watched);
});
