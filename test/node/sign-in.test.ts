import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createIssuer } from "../../examples/issuer/issuer.mjs";
import { createConnecta, memoryStorage } from "../../server/index.ts";
import { listen } from "../../server/node/listen.ts";
import { SigningIn } from "../../verify/sign-in/host.ts";
import { Browsing } from "../examples/browsing.ts";
import { openings } from "../../verify/support/openings.ts";

const PASSPHRASE = "correct horse battery staple";

const open = openings();

/** A deployment on loopback, and an issuer at an address of its own whose tokens are for it. */
async function started(name = "127.0.0.1") {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  const issuing = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => issuing.listen(0, "127.0.0.1", resolve));
  open.push(async () => {
    issuing.closeAllConnections();
    issuing.close();
  });
  const issuer = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}`;
  const auth = { oauth: { issuer, scopes: ["mcp"] } };
  const server = await listen({ connectors: [], auth }, { port: 0 });
  if (!server.ok) throw new Error(server.failure.message);
  open.push(server.value.close);
  const resource = `http://${name}:${server.value.port}/mcp`;
  answer = await createIssuer({
    url: issuer,
    resource,
    scope: "mcp",
    passphrase: PASSPHRASE,
    redirectHosts: [],
    storage: memoryStorage(),
  });
  return { issuer, resource, port: server.value.port };
}

describe("a deployment on loopback with an issuer elsewhere", () => {
  test.each(["127.0.0.1", "localhost"])(
    "lets a client in that reaches it as %s, with keys that it discovered",
    async (name) => {
      const { issuer, resource } = await started(name);
      const host = new SigningIn();
      const client = new Client({ name: "a host", version: "1" });
      const make = () =>
        new StreamableHTTPClientTransport(new URL(resource), { authProvider: host });
      const transport = make();
      await expect(client.connect(transport)).rejects.toThrow("Unauthorized");
      expect(host.sentTo?.origin).toBe(issuer);
      expect(host.sentTo?.searchParams.get("scope")).toContain("mcp");
      const person = new Browsing();
      await person.open(host.sentTo ?? issuer);
      const back = await person.send({ answer: "allow", passphrase: PASSPHRASE });
      await transport.finishAuth(new URL(back.headers.get("location") ?? "").searchParams);
      await client.connect(make());
      expect((await client.listTools()).tools).toHaveLength(7);
      await client.close();
    },
  );

  test("names itself by its own addresses, whatever a request asks for", async () => {
    const { port } = await started();
    const named = async (host: string) => {
      const path = "/.well-known/oauth-protected-resource/mcp";
      const { request } = await import("node:http");
      return new Promise<string>((resolve, reject) => {
        const sent = request({ port, host: "127.0.0.1", path, headers: { host } }, (response) => {
          let text = "";
          response.on("data", (data: Buffer) => (text += String(data)));
          response.on("end", () => resolve((JSON.parse(text) as { resource: string }).resource));
        });
        sent.on("error", reject).end();
      });
    };
    expect(await named(`127.0.0.1:${port}`)).toBe(`http://127.0.0.1:${port}/mcp`);
    expect(await named(`localhost:${port}`)).toBe(`http://localhost:${port}/mcp`);
    expect(await named("evil.example")).toBe(`http://127.0.0.1:${port}/mcp`);
    expect(await named(`localhost:${port + 1}`)).toBe(`http://127.0.0.1:${port}/mcp`);
  });

  test("G7: one that is reached from elsewhere must be told where", async () => {
    const auth = { oauth: { issuer: "https://issuer.example" } };
    const config = { connectors: [], auth };
    await expect(listen(config, { hostname: "0.0.0.0", port: 0 })).rejects.toThrow(
      "auth.oauth needs publicUrl",
    );
    const executor = { execute: () => Promise.resolve({ result: undefined }) };
    expect(() => createConnecta({ ...config, executor })).toThrow("auth.oauth needs publicUrl");
  });
});
