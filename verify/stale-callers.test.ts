import type { Frame } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connector } from "../server/index.ts";
import { BEARER, operated } from "./operator/deployment.ts";
import { go, signedIn } from "./operator/person.ts";
import * as results from "./shell/results.ts";
import { Stage } from "./shell/stage.ts";
import { launchChromium } from "./support/chromium.ts";
import { bearer, post } from "./support/messages.ts";
import { appears } from "./support/page.ts";
import { openings } from "./support/openings.ts";

let stage: Stage;
let browser: Awaited<ReturnType<typeof launchChromium>>;
beforeAll(async () => {
  [stage, browser] = await Promise.all([Stage.start(), launchChromium()]);
});
afterAll(() => Promise.all([stage.close(), browser.close()]));

const open = openings();

const READS = { page: { address: "desk.list" } };

/** Says who asks, with a credential that a person hands over; keeps who reached it. */
function ticketDesk() {
  const reached: string[] = [];
  let source: Parameters<NonNullable<Connector["useCredentials"]>>[0] | undefined;
  const connector: Connector = {
    id: "desk",
    kind: "api",
    credential: { kind: "fields", fields: [{ name: "token", title: "Desk token" }] },
    useCredentials: (lent) => void (source = lent),
    listTools: async () => ({
      ok: true,
      value: [
        {
          name: "list",
          description: "List tickets.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
        },
      ],
    }),
    callTool: async (_, __, scope) => {
      const held = await source?.current(scope);
      if (held?.ok === false) return held;
      reached.push(scope.principal);
      return { ok: true, value: { kind: "value", value: scope.principal } };
    },
  };
  return { connector, reached };
}

/** One read of the view's own page: what it gave, or the code that it was refused with. */
const read = (inner: Frame): Promise<unknown> =>
  inner.evaluate(() => {
    type Page = { connecta: { read(name: string): Promise<unknown> } };
    return (window as unknown as Page).connecta.read("page").catch(({ code }) => ({ code }));
  });

/** What a host does for a view: the call as whoever it now speaks for. */
async function passOn(url: string, token: string | undefined, params: unknown) {
  const headers = bearer(token);
  const { status, text } = await post(url, "tools/call", params, { headers });
  if (status !== 200) throw new Error(`HTTP ${status}`);
  return (JSON.parse(text) as { result: unknown }).result;
}

/** A view in the real shell, and the operator's page beside it, signed in and with tokens made. */
async function opened() {
  const { connector, reached } = ticketDesk();
  const { url, close } = await operated([connector]);
  open.push(close);
  const { page, context } = await signedIn(browser, url);
  open.push(() => context.close());
  page.on("dialog", (dialog) => void dialog.accept());
  const handOver = async () => {
    await go(page, "Credentials");
    await page.getByLabel("Desk token").fill("a token of the desk");
    await page.getByRole("button", { name: "Save desk" }).click();
    await appears(page.getByRole("status"));
  };
  const makeToken = async (name: string) => {
    await go(page, "Tokens");
    await page.getByLabel("Name of a new token").fill(name);
    await page.getByRole("button", { name: "Create" }).click();
    return (await page.getByText(/^connecta_[0-9a-f]{16}_/).textContent()) ?? "";
  };
  await handOver();
  const caller: { token: string | undefined } = { token: await makeToken("view") };
  const host = await stage.open(
    { result: results.viewResult("<p>Tickets</p>", READS) },
    (_, params) => passOn(url, caller.token, params),
  );
  const inner = await host.inner();
  const own = `token:${caller.token?.split("_")[1]}`;
  // The control of every case below.
  expect(await read(inner)).toBe(own);
  expect(reached.splice(0)).toEqual([own]);
  return { caller, reached, inner, page, own, handOver, makeToken };
}

test("V7: a view in the shell is refused once an operator removed the credential, until it is set", async () => {
  const { inner, page, reached, own, handOver } = await opened();
  await go(page, "Credentials");
  await page.getByRole("button", { name: "Remove desk" }).click();
  await appears(page.getByText("The credential of desk is removed."));
  expect(await read(inner)).toEqual({ code: "auth_required" });
  expect(reached).toEqual([]);
  await handOver();
  expect(await read(inner)).toBe(own);
});

test("V7: a view in the shell is refused once an operator revoked the token of its caller", async () => {
  const { inner, page, reached, caller } = await opened();
  await go(page, "Tokens");
  await page.getByRole("button", { name: "Revoke view" }).click();
  await appears(page.getByText("its next request is refused"));
  expect(await read(inner)).toEqual({ code: "connector_call_failed" });
  expect(reached).toEqual([]);
  caller.token = BEARER;
  expect(await read(inner)).toBe("bearer");
});

test("V7: a view in the shell reads nothing for nobody, and for another caller as that one", async () => {
  const { inner, reached, caller, makeToken } = await opened();
  caller.token = undefined;
  expect(await read(inner)).toEqual({ code: "connector_call_failed" });
  expect(reached).toEqual([]);
  caller.token = await makeToken("another");
  const other = `token:${caller.token.split("_")[1]}`;
  expect(await read(inner)).toBe(other);
  expect(reached).toEqual([other]);
});
