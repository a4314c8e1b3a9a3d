import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../examples/issuer/deployment.mjs";
import { memoryStorage, remoteMcp } from "../server/index.ts";
import { BEARER, called, operated } from "./operator/deployment.ts";
import { go, overflow, signedIn } from "./operator/person.ts";
import { launchChromium, mustBeQuiet, OUT } from "./support/chromium.ts";
import { coloursOf } from "./support/picture.ts";
import { appears, eventually } from "./support/page.ts";
import { openings } from "./support/openings.ts";
import { clock, PASSPHRASE } from "./sign-in/clock.ts";

const PHONE = { viewport: { width: 360, height: 640 } };
const PAGES = ["Connections", "Tools", "Credentials", "Tokens", "Activity"];

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const open = openings();

async function site(...given: Parameters<typeof operated>) {
  const server = await operated(...given);
  open.push(server.close);
  return server.url;
}

async function person(url: string, options?: Parameters<typeof signedIn>[2]) {
  const one = await signedIn(browser, url, options);
  open.push(() => one.context.close());
  return one;
}

const use = async (url: string) =>
  (await called(url, BEARER, "call_tool", { address: "crm.use" })).value;

describe("an operator", () => {
  test.each([
    ["with scripts", true],
    ["without scripts", false],
  ])("hands a credential over %s, and the next call uses it", async (_, javaScriptEnabled) => {
    const url = await site();
    const watched = await person(url, { ...PHONE, javaScriptEnabled });
    const { page } = watched;
    expect(await use(url)).toMatchObject({ error: { code: "auth_required" } });
    await page.getByRole("link", { name: "credential missing" }).click();
    await page.getByLabel("API token").fill("seven!!");
    await page.getByLabel("Tenant").fill("acme");
    await page.getByRole("button", { name: "Save crm" }).click();
    await appears(page.getByText("Its next call uses it."));
    expect(await use(url)).toEqual({ ok: true, data: { chars: 7 } });
    expect(await page.getByLabel("API token").inputValue()).toBe("");
    mustBeQuiet(watched);
  });

  test("makes a token, which lets a caller in until it is revoked", async () => {
    const url = await site();
    const watched = await person(url);
    const { page } = watched;
    await go(page, "Tokens");
    await page.getByLabel("Name of a new token").fill("laptop");
    await page.getByLabel("Ends after").selectOption({ label: "90 days" });
    await page.getByRole("button", { name: "Create" }).click();
    const token = (await page.getByText(/^connecta_[0-9a-f]{16}_/).textContent()) ?? "";
    const list = async () => (await called(url, token, "search_tools", {})).status;
    expect(await list()).toBe(200);
    // To load the page again makes no second token, and does not show the first one again.
    await page.reload();
    await page.getByRole("button", { name: "Revoke laptop" }).waitFor();
    expect(await page.getByText(/^connecta_/).count()).toBe(0);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.getByRole("button", { name: "Revoke laptop" }).click();
    expect(await list()).toBe(200);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Revoke laptop" }).click();
    await appears(page.getByText("its next request is refused"));
    expect(await list()).toBe(401);
    mustBeQuiet(watched);
  });

  test("authorizes a server by a link, and its next call works", async () => {
    const theirs = await serve(
      { connectors: [clock], storage: memoryStorage() },
      { passphrase: PASSPHRASE },
    );
    open.push(theirs.close);
    const remote = remoteMcp({ id: "remote", url: `${theirs.url}/mcp`, auth: "oauth" });
    const url = await site([remote]);
    const { page, context } = await person(url);
    await go(page, "Credentials");
    await page.getByRole("button", { name: "Authorize remote" }).click();
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: /^Go on at/ }).click();
    const consent = await opened;
    await consent.getByLabel("Your passphrase").fill(PASSPHRASE);
    await consent.getByRole("button", { name: "Let it in" }).click();
    await appears(consent.getByText("remote is connected."));
    await go(page, "Credentials");
    await appears(page.locator("#remote").getByText("authorized", { exact: true }));
    const args = { address: "remote.call_tool", args: { address: "clock.now" } };
    const { value } = await called(url, BEARER, "call_destructive_tool", {
      ...args,
      reason: "Try.",
    });
    expect(JSON.stringify(value)).toContain("noon");
  });

  test("follows calls as they come, and is told when the session is over", async () => {
    const url = await site();
    const watched = await person(url);
    const { page, context } = watched;
    await go(page, "Activity");
    await appears(page.getByText("Nothing was recorded."));
    await page.getByLabel("Follow").check();
    await appears(page.getByText("Following"));
    await use(url);
    await appears(page.getByRole("cell", { name: "crm.use" }));
    await called(url, BEARER, "call_tool", { address: "<b>nothing</b>" });
    await appears(page.getByRole("cell", { name: "<b>nothing</b>" }));
    expect(await page.locator("tbody b").count()).toBe(0);
    mustBeQuiet(watched);
    await context.clearCookies();
    await appears(page.getByText("Your session is over: sign in again."));
    await eventually(() => page.getByLabel("Follow").isChecked()).toBe(false);
  });

  test("signs out", async () => {
    const url = await site();
    const { page } = await person(url);
    await page.getByRole("button", { name: "Sign out" }).click();
    await appears(page.getByLabel("Operator secret"));
    await page.goto(`${url}/operator/credentials`);
    await appears(page.getByLabel("Operator secret"));
  });

  test("moves by keyboard: first past the navigation, then along it", async () => {
    const { page } = await person(await site());
    await page.keyboard.press("Tab");
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(
      "Skip to the content",
    );
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).hash).toBe("#content");
  });
});

describe("the look", () => {
  test.each(["light", "dark"] as const)("fits a phone, %s", async (colorScheme) => {
    const url = await site();
    await use(url);
    const watched = await person(url, { ...PHONE, colorScheme });
    const { page } = watched;
    const wide: string[] = [];
    for (const name of PAGES) {
      await go(page, name);
      if (name === "Tools") {
        await page.getByLabel("Connector").selectOption("shop");
        await page.getByRole("button", { name: "Show" }).click();
        await page.getByText("delete_everything_").waitFor();
      }
      const png = await page.screenshot({ path: `${OUT}operator-${colorScheme}-${name}.png` });
      if ((await overflow(page)) > 0) wide.push(name);
      const ground = colorScheme === "dark" ? "14,16,19" : "243,244,246";
      const plain = await browser.newPage();
      expect(await coloursOf(plain, png)).toContain(ground);
      await plain.close();
    }
    expect(wide).toEqual([]);
    // The control: what does not fit is noticed.
    await page.locator("h1").evaluate((title) => (title.style.width = "400px"));
    expect(await overflow(page)).toBeGreaterThan(0);
    mustBeQuiet(watched);
  });
});
