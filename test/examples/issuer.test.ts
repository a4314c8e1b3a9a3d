import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { decodeJwt } from "jose";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { memoryStorage, type ConnectaConfig } from "../../server/index.ts";
import { serve } from "../../examples/issuer/deployment.mjs";
import { CALLBACK, SigningIn } from "../../verify/sign-in/host.ts";
import { bearer, post } from "../../verify/support/messages.ts";
import { Browsing } from "./browsing.ts";
import { openings } from "../../verify/support/openings.ts";
import { clock, PASSPHRASE } from "../../verify/sign-in/clock.ts";

const CLIENT = { name: "a host", version: "1" };

const open = openings();

/** The example with a connector of the test, on any free port. */
async function started(config: Partial<ConnectaConfig> = {}) {
  const all = { connectors: [clock], storage: memoryStorage(), ...config };
  const server = await serve(all, { passphrase: PASSPHRASE });
  open.push(server.close);
  return server;
}

const GENERATIONS = {
  "2026": (url: string, authProvider: SigningIn) => {
    const client = new NewClient(CLIENT, { versionNegotiation: { mode: "auto" } });
    return { client, make: () => new NewTransport(new URL(url), { authProvider }) };
  },
  "2025": (url: string, authProvider: SigningIn) => {
    const client = new NewClient(CLIENT);
    return { client, make: () => new NewTransport(new URL(url), { authProvider }) };
  },
  "2025, by the older package": (url: string, authProvider: SigningIn) => {
    const client = new OldClient(CLIENT);
    return { client, make: () => new OldTransport(new URL(url), { authProvider }) };
  },
} as const;

/** Answers the question of the page as its person would; gives where the host is called back. */
async function allow(sentTo: URL | undefined, passphrase = PASSPHRASE): Promise<URL> {
  if (!sentTo) throw new Error("nobody was sent anywhere");
  const person = new Browsing();
  expect((await person.open(sentTo)).status).toBe(200);
  const response = await person.send({ answer: "allow", passphrase });
  const location = response.headers.get("location");
  if (location === null) throw new Error(`no way back: ${await response.text()}`);
  return new URL(location);
}

const codeOf = (back: URL) => back.searchParams.get("code") ?? "";

/** The tokens of a host that was let in. */
async function letIn(url: string): Promise<SigningIn> {
  const host = new SigningIn();
  const { client, make } = GENERATIONS["2026"](`${url}/mcp`, host);
  const transport = make();
  await expect(client.connect(transport)).rejects.toThrow("Unauthorized");
  await transport.finishAuth((await allow(host.sentTo)).searchParams);
  return host;
}

const renewAt = (url: string, token = "", clientId = "") =>
  fetch(`${url}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: token,
      client_id: clientId,
    }),
  });

const statusOf = async (url: string, token?: string) =>
  (await post(url, "tools/list", {}, { headers: bearer(token) })).status;

describe("one person's own issuer", () => {
  test.each(Object.keys(GENERATIONS) as (keyof typeof GENERATIONS)[])(
    "lets in a client of %s that knows nothing but the address, and it calls",
    async (generation) => {
      const { url } = await started();
      const host = new SigningIn();
      const { client, make } = GENERATIONS[generation](`${url}/mcp`, host);
      const transport = make();
      await expect(client.connect(transport as never)).rejects.toThrow("Unauthorized");
      expect(host.sentTo?.searchParams.get("code_challenge_method")).toBe("S256");
      expect(host.sentTo?.searchParams.get("resource")).toBe(`${url}/mcp`);
      const back = await allow(host.sentTo);
      expect(back.href.startsWith(CALLBACK)).toBe(true);
      expect(back.searchParams.get("iss")).toBe(url);
      if (transport instanceof NewTransport) await transport.finishAuth(back.searchParams);
      else await transport.finishAuth(codeOf(back));
      await client.connect(make() as never);
      const answer = await client.callTool({
        name: "call_tool",
        arguments: { address: "clock.now" },
      });
      expect(answer.structuredContent).toEqual({ ok: true, data: "noon" });
      await client.close();
    },
  );

  test("issues tokens for this deployment alone, in the name of its one account", async () => {
    const { url } = await started();
    const { granted } = await letIn(url);
    expect(decodeJwt(granted?.access_token ?? "")).toMatchObject({
      iss: url,
      aud: `${url}/mcp`,
      sub: "owner",
      scope: expect.stringContaining("mcp"),
    });
    const other = await started();
    expect(await statusOf(other.url, granted?.access_token)).toBe(401);
    expect(await statusOf(url, granted?.access_token)).toBe(200);
  });

  test("renews a host's token without its person, once for each refresh token", async () => {
    const { url } = await started();
    const { granted, registered } = await letIn(url);
    const renew = (token = "") => renewAt(url, token, registered?.client_id);
    const renewed = await renew(granted?.refresh_token);
    expect(renewed.status).toBe(200);
    const { access_token, refresh_token } = (await renewed.json()) as Record<string, string>;
    expect(await statusOf(url, access_token)).toBe(200);
    expect((await renew(granted?.refresh_token)).status).toBe(400);
    // Who has an old one may be a thief: the new one ends as well.
    expect((await renew(refresh_token)).status).toBe(400);
  });

  test("remembers hosts, its key and what it granted after it was started again", async () => {
    const kept = memoryStorage();
    const storage = { ...kept, close: async () => {} };
    const first = await started({ storage });
    const { granted, registered } = await letIn(first.url);
    await open.pop()?.();
    const port = Number(new URL(first.url).port);
    const again = await serve({ connectors: [clock], storage }, { passphrase: PASSPHRASE, port });
    open.push(again.close);
    expect(again.url).toBe(first.url);
    expect(await statusOf(again.url, granted?.access_token)).toBe(200);
    const renewed = await renewAt(again.url, granted?.refresh_token, registered?.client_id);
    expect(renewed.status).toBe(200);
  });
});

/** A host that was sent to the page with the question, and a person in front of it. */
async function asked(url: string) {
  const host = new SigningIn();
  const { client, make } = GENERATIONS["2026"](`${url}/mcp`, host);
  await expect(client.connect(make())).rejects.toThrow("Unauthorized");
  const person = new Browsing();
  const page = await person.open(host.sentTo ?? url);
  return { host, person, page };
}

describe("node examples/issuer/serve.mjs", () => {
  const SERVE = fileURLToPath(new URL("../../examples/issuer/serve.mjs", import.meta.url));

  function run(env: Record<string, string>) {
    const folder = mkdtempSync(join(tmpdir(), "connecta-issuer-"));
    const all = { ...process.env, PORT: "0", CONNECTA_STORE: join(folder, "kept.db"), ...env };
    const child = spawn(process.execPath, [SERVE], { env: all });
    open.push(async () => {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
    let stderr = "";
    child.stderr.on("data", (data: Buffer) => (stderr += String(data)));
    const ended = new Promise<[number | null, string]>((resolve) =>
      child.on("close", (code) => resolve([code, stderr])),
    );
    const url = new Promise<string>((resolve) =>
      child.stdout.on("data", (data: Buffer) => {
        const [, found] = /^listening (\S+)$/m.exec(String(data)) ?? [];
        if (found !== undefined) resolve(found);
      }),
    );
    return { child, ended, url };
  }

  test("serves deployment and issuer under one address, and ends on SIGTERM", async () => {
    const { child, ended, url } = run({ PASSPHRASE });
    const address = await url;
    expect((await fetch(`${address}/health`)).status).toBe(200);
    const host = await letIn(address);
    expect(await statusOf(address, host.granted?.access_token)).toBe(200);
    expect(await statusOf(address)).toBe(401);
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
  });

  test("does not start without a passphrase, and says so", async () => {
    const [code, stderr] = await run({ PASSPHRASE: "" }).ended;
    expect(code).toBe(1);
    expect(stderr).toContain("issuer: PASSPHRASE needs at least 16 characters.");
  });
});

describe("the page with the question", () => {
  test("names the host as text, says where it leads, and cannot be put into a frame", async () => {
    const { url } = await started();
    const { page } = await asked(url);
    const text = await page.text();
    expect(text).toContain("A &#60;b&#62;host&#60;/b&#62;");
    expect(text).not.toContain("<b>");
    expect(text).toContain("localhost:65000");
    expect(text).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)/);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test.each(["", "wrong horse battery staple", PASSPHRASE.toUpperCase()])(
    "lets nobody in for the passphrase %j",
    async (passphrase) => {
      const { url } = await started();
      const { person } = await asked(url);
      const response = await person.send({ answer: "allow", passphrase });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain("That is not the passphrase.");
      const right = await person.send({ answer: "allow", passphrase: PASSPHRASE });
      expect(right.headers.get("location")).toContain(`${CALLBACK}?code=`);
    },
  );

  test("stops guessing after ten tries, of the right passphrase too", async () => {
    const { url } = await started();
    const { person } = await asked(url);
    for (let i = 0; i < 10; i++) await person.send({ answer: "allow", passphrase: `guess ${i}` });
    const response = await person.send({ answer: "allow", passphrase: PASSPHRASE });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("Too many tries.");
  });

  test("takes no answer from another page, nor from another browser", async () => {
    const { url } = await started();
    const { person } = await asked(url);
    const answer = { answer: "allow", passphrase: PASSPHRASE };
    const foreign = await person.send(answer, { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
    const other = new Browsing();
    other.at = person.at;
    expect((await other.send(answer)).status).toBe(400);
    const own = await person.send(answer, { origin: url });
    expect(own.headers.get("location")).toContain(`${CALLBACK}?code=`);
  });

  test("tells the host when its person refuses, without a passphrase", async () => {
    const { url } = await started();
    const { person } = await asked(url);
    const response = await person.send({ answer: "refuse", passphrase: "" });
    expect(response.headers.get("location")).toContain(`${CALLBACK}?error=access_denied`);
  });
});

describe("hosts that the issuer does not serve", () => {
  const register = (url: string, redirect: string) =>
    fetch(`${url}/reg`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(new SigningIn(redirect).clientMetadata),
    });

  test("one that would send its person elsewhere cannot register, unless that is allowed", async () => {
    const { url } = await started();
    const refused = await register(url, "https://host.example/callback");
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("host.example is not among REDIRECT_HOSTS.");
    const allowing = await serve(
      { connectors: [clock], storage: memoryStorage() },
      { passphrase: PASSPHRASE, redirectHosts: ["host.example"] },
    );
    open.push(allowing.close);
    expect((await register(allowing.url, "https://host.example/callback")).status).toBe(201);
    expect((await register(allowing.url, "https://sub.host.example/callback")).status).toBe(400);
  });

  test("a flood of registrations ends", async () => {
    const { url } = await started();
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await register(url, CALLBACK)).status);
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 201));
    expect(statuses.slice(10)).toEqual([429, 429]);
  });

  test("a code is of no use without the verifier, nor twice, nor for another resource", async () => {
    const { url } = await started();
    const redeem = (host: SigningIn, back: URL, over: Record<string, string> = {}) =>
      fetch(`${url}/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code: codeOf(back),
          redirect_uri: CALLBACK,
          client_id: host.registered?.client_id ?? "",
          code_verifier: host.verifier,
          ...over,
        }),
      });
    const stolen = await asked(url);
    const back = await allow(stolen.host.sentTo);
    const guess = await redeem(stolen.host, back, { code_verifier: "x".repeat(43) });
    expect(guess.status).toBe(400);
    const other = await asked(url);
    const elsewhere = await redeem(other.host, await allow(other.host.sentTo), {
      resource: "https://other.example/mcp",
    });
    expect(elsewhere.status).toBe(400);
    const third = await asked(url);
    const used = await allow(third.host.sentTo);
    expect((await redeem(third.host, used)).status).toBe(200);
    expect((await redeem(third.host, used)).status).toBe(400);
  });

  test("a deployment without a long passphrase or a store does not start", async () => {
    const all = { connectors: [], storage: memoryStorage() };
    await expect(serve(all, { passphrase: " ".repeat(20) })).rejects.toThrow("PASSPHRASE needs");
    await expect(serve({ connectors: [] }, { passphrase: PASSPHRASE })).rejects.toThrow("storage");
    const below = { passphrase: PASSPHRASE, publicUrl: "https://mcp.example/below" };
    await expect(serve(all, below)).rejects.toThrow("PUBLIC_URL must have no path");
  });
});
