import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE, operated } from "./operator/deployment.ts";
import { go, signedIn } from "./operator/person.ts";
import { unguarded } from "./operator/unguarded.ts";
import { launchChromium } from "./support/chromium.ts";
import { appears } from "./support/page.ts";
import { openings } from "./support/openings.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const open = openings();

/** Somebody who signed in, at a page that looks at where forms come from, or at one that does not. */
async function victim(isChecked = true) {
  const server = await operated();
  open.push(server.close);
  const seen = isChecked ? server : await unguarded(server.url);
  if (!isChecked) open.push(seen.close);
  const { url } = seen;
  const one = await signedIn(browser, url);
  open.push(() => one.context.close());
  return { url, ...one };
}

/** A page of somebody else: another port of the same site, so that cookies go along, or another site. */
async function page(html: string, name = "127.0.0.1"): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  open.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${name}:${(server.address() as AddressInfo).port}`;
}

const SITES = [
  ["of another port, with cookies", "127.0.0.1"],
  ["of another site", "localhost"],
] as const;

describe("a form of a foreign page", () => {
  const FORM = (url: string, form: string) => `<!doctype html>
    <form method="post" action="${url}/operator/tokens">
      <input name="form" value="${form}"><input name="action" value="create">
      <input name="name" value="theirs"><input name="ends" value="never"><button>Win</button>
    </form>`;

  const pressed = async (name: string, isChecked: boolean) => {
    const { url, context, page: own } = await victim(isChecked);
    await go(own, "Tokens");
    // Even one that got hold of the token of the session.
    const form = (await own.locator('input[name="form"]').first().inputValue()) ?? "";
    const attacker = await context.newPage();
    await attacker.goto(await page(FORM(url, form), name));
    await attacker.getByRole("button", { name: "Win" }).click();
    await attacker.waitForURL(`${url}/operator/**`);
    await attacker.waitForLoadState();
    await own.reload();
    return own.getByRole("button", { name: "Revoke theirs" }).count();
  };

  test.each(SITES)("%s makes no token", async (_, name) => {
    expect(await pressed(name, true)).toBe(0);
  });

  test("would make one if nobody looked at where it comes from", async () => {
    expect(await pressed("127.0.0.1", false)).toBe(1);
  });

  test("of another site makes none even then: its browser keeps the cookie back", async () => {
    expect(await pressed("localhost", false)).toBe(0);
  });
});

describe("a cookie", () => {
  const opens = async (forge: (real: string) => string) => {
    const { url, context } = await victim();
    const cookies = await context.cookies(`${url}/operator`);
    const real = cookies.find(({ name }) => name === "connecta_operator")?.value ?? "";
    const other: BrowserContext = await browser.newContext();
    open.push(() => other.close());
    await other.addCookies([
      { name: "connecta_operator", value: forge(real), domain: "127.0.0.1", path: "/operator" },
    ]);
    const theirs = await other.newPage();
    await theirs.goto(`${url}/operator`);
    return (await theirs.getByRole("heading", { level: 1 }).textContent()) ?? "";
  };

  test.each<[string, (real: string) => string]>([
    ["that is made up", () => `${"a".repeat(32)}.${Date.now() + 60_000}.${"b".repeat(64)}`],
    ["that would last longer", (real) => real.replace(/\.\d/, ".9")],
    ["without its seal", (real) => real.replace(/[^.]+$/, "")],
  ])("%s opens nothing", async (_, forge) => {
    expect(await opens(forge)).toBe("Operator");
  });

  test("that is the real one opens the page, and no script can read it", async () => {
    expect(await opens((real) => real)).toBe("Connections");
    const { page: own } = await victim();
    expect(await own.evaluate(() => document.cookie)).toBe("");
  });
});

describe("a frame in a foreign page", () => {
  const shown = async (strip: boolean) => {
    const { url, context } = await victim();
    if (strip) {
      await context.route(`${url}/operator`, async (route) => {
        const response = await route.fetch();
        const headers = response.headers();
        for (const name of Object.keys(headers)) {
          if (/^(?:content-security|x-frame|cross-origin)/.test(name)) delete headers[name];
        }
        await route.fulfill({ response, headers });
      });
    }
    const attacker = await context.newPage();
    await attacker.goto(await page(`<!doctype html><iframe src="${url}/operator"></iframe>`));
    const frame = attacker.frames()[1];
    await attacker.waitForLoadState();
    return frame?.getByRole("heading", { name: "Connections" }).count();
  };

  test("shows nothing to press", async () => {
    expect(await shown(false)).toBe(0);
  });

  test("would show the page without its headers", async () => {
    expect(await shown(true)).toBe(1);
  });
});

describe("a tool whose texts are markup", () => {
  const title = async (change: (html: string) => string, keepsPolicy: boolean) => {
    const { url, context, page: own } = await victim();
    await context.route(`${url}/operator/tools?connector=shop`, async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      if (!keepsPolicy) delete headers["content-security-policy"];
      await route.fulfill({ response, headers, body: change(await response.text()) });
    });
    await own.goto(`${url}/operator/tools?connector=shop`);
    await appears(own.getByText("delete_everything_"));
    return own.title();
  };
  const unescaped = (html: string) =>
    html.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');

  test("does nothing, and is shown as it is", async () => {
    expect(await title((html) => html, true)).toBe("Tools – connecta");
    const { url, page: own } = await victim();
    await own.goto(`${url}/operator/tools?connector=shop`);
    expect(await own.getByText(HOSTILE, { exact: true }).count()).toBeGreaterThan(0);
  });

  test("does nothing even where a page forgot to escape it", async () => {
    expect(await title(unescaped, true)).toBe("Tools – connecta");
  });

  test("would run without either", async () => {
    expect(await title(unescaped, false)).toBe("taken");
  });
});
