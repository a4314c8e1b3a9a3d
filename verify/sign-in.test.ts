import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../examples/issuer/deployment.mjs";
import { memoryStorage } from "../server/index.ts";
import { listen } from "../server/node/index.ts";
import { CALLBACK, SigningIn } from "./sign-in/host.ts";
import { launchChromium } from "./support/chromium.ts";
import { openings } from "./support/openings.ts";
import { clock, PASSPHRASE } from "./sign-in/clock.ts";

const BEARER = "correct-horse-battery";
const PHONE = { viewport: { width: 360, height: 640 } };

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const open = openings();

describe("a person with a browser", () => {
  test("signs a host in on a phone, with a passphrase and one press", async () => {
    const server = await serve(
      { connectors: [clock], storage: memoryStorage() },
      { passphrase: PASSPHRASE },
    );
    open.push(server.close);
    const address = new URL(`${server.url}/mcp`);
    const host = new SigningIn();
    const client = new Client({ name: "a host", version: "1" });
    const transport = new StreamableHTTPClientTransport(address, { authProvider: host });
    await expect(client.connect(transport)).rejects.toThrow("Unauthorized");

    const context = await browser.newContext(PHONE);
    open.push(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => problems.push(message.text()));
    await page.route(`${CALLBACK}*`, (route) => route.fulfill({ body: "back at the host" }));
    await page.goto(host.sentTo?.href ?? "");
    const overflow = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    expect(overflow).toBe(0);
    expect(await page.locator("main b").count()).toBe(0);
    await page.getByLabel("Your passphrase").fill("wrong horse battery staple");
    await page.getByRole("button", { name: "Let it in" }).click();
    await page.getByText("That is not the passphrase.").waitFor();
    problems.length = 0;
    await page.getByLabel("Your passphrase").fill(PASSPHRASE);
    await page.getByRole("button", { name: "Let it in" }).click();
    await page.waitForURL(`${CALLBACK}*`);
    expect(problems).toEqual([]);

    await transport.finishAuth(new URL(page.url()).searchParams);
    await client.connect(new StreamableHTTPClientTransport(address, { authProvider: host }));
    open.push(() => client.close());
    const called = await client.callTool({
      name: "call_tool",
      arguments: { address: "clock.now" },
    });
    expect(called.structuredContent).toEqual({ ok: true, data: "noon" });
  });
});

/** A page of another origin, which may fetch what its browser lets it. */
async function elsewhere() {
  const server = createServer((_, response) => response.end("<!doctype html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context = await browser.newContext();
  open.push(
    () => context.close(),
    async () => server.close(),
  );
  const page = await context.newPage();
  await page.goto(origin);
  return { origin, page };
}

describe("a client in a page of another origin", () => {
  const asked = async (isListed: boolean) => {
    const { origin, page } = await elsewhere();
    const http = { allowedOrigins: isListed ? [origin] : ["https://app.example"] };
    const config = { connectors: [clock], auth: { bearer: BEARER }, http };
    const server = await listen(config, { port: 0 });
    if (!server.ok) throw new Error(server.failure.message);
    // Last, or it would wait for what the browser keeps connected.
    open.unshift(server.value.close);
    return page.evaluate(askAsClient, { url: `${server.value.url}/mcp`, token: BEARER });
  };

  test("calls and reads refusals, where its origin is listed", async () => {
    expect(await asked(true)).toEqual({
      called: 200,
      refused: [401, 'Bearer error="invalid_token"'],
      streamed: 405,
      withCookies: "blocked",
    });
  });

  test("does and reads nothing, where it is not", async () => {
    expect(await asked(false)).toEqual({
      called: "blocked",
      refused: "blocked",
      streamed: "blocked",
      withCookies: "blocked",
    });
  });
});

/** What a client in a page tries, and what its browser lets it know; runs in the page. */
async function askAsClient({ url, token }: { url: string; token: string }) {
  const headers = (given: string) => ({
    authorization: `Bearer ${given}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    "mcp-method": "tools/list",
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const told = async <T>(read: (response: Response) => T, init: RequestInit) => {
    try {
      return read(await fetch(url, init));
    } catch {
      return "blocked";
    }
  };
  const status = (response: Response) => response.status;
  const challenge = (response: Response) => [
    response.status,
    response.headers.get("www-authenticate")?.split(",")[0],
  ];
  const post = { method: "POST", body };
  return {
    called: await told(status, { ...post, headers: headers(token) }),
    refused: await told(challenge, { ...post, headers: headers("wrong") }),
    streamed: await told(status, { headers: headers(token) }),
    withCookies: await told(status, { ...post, headers: headers(token), credentials: "include" }),
  };
}
