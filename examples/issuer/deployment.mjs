// @ts-check
import { getRequestListener } from "@hono/node-server";
import { createServer } from "node:http";
import { createConnecta } from "connecta";
import { quickjsExecutor } from "connecta/node";
import { createIssuer } from "./issuer.mjs";

/** What connecta answers; everything else of the address is the issuer's. */
const OURS = /^\/(?:mcp|health|\.well-known\/oauth-protected-resource(?:\/mcp)?)(?:\?|$)/;

/** What a token must be good for; clients hear of it and ask for it. */
const SCOPE = "mcp";

/**
 * Serves a deployment and the issuer that lets one person into it, under one address.
 * @param {import("connecta").ConnectaConfig} config with a `storage`, which both keep theirs in
 * @param {object} options
 * @param {string} [options.publicUrl] where browsers and hosts reach this; the loopback address if omitted
 * @param {string} options.passphrase what the person types to let a host in
 * @param {readonly string[]} [options.redirectHosts] hosts that may be let in besides this machine's
 * @param {number} [options.port] on 127.0.0.1; 0 for any free one
 */
export async function serve(config, { publicUrl, passphrase, redirectHosts = [], port = 0 }) {
  const { storage } = config;
  if (publicUrl !== undefined && new URL(publicUrl).pathname !== "/") {
    throw new TypeError("PUBLIC_URL must have no path: the issuer takes all of its address.");
  }
  if (!storage) throw new TypeError("The issuer needs a storage: see connecta.config.mjs.");
  /** @type {import("node:http").RequestListener} */
  let answer = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined));
  });
  const bound = /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  const local = `http://127.0.0.1:${bound}`;
  const url = (publicUrl ?? local).replace(/\/+$/, "");
  const resource = `${url}/mcp`;
  try {
    const issuer = await createIssuer({
      url,
      resource,
      scope: SCOPE,
      passphrase,
      redirectHosts,
      storage,
    });
    // The keys are read over loopback: not every network reaches its own public address.
    const oauth = { issuer: url, jwksUri: `${local}/jwks`, scopes: [SCOPE] };
    const connecta = createConnecta({
      executor: quickjsExecutor(),
      ...config,
      publicUrl: url,
      auth: { ...config.auth, oauth },
    });
    const listener = getRequestListener((request) => connecta.fetch(request));
    answer = (request, response) =>
      OURS.test(request.url ?? "") ? listener(request, response) : issuer(request, response);
    return {
      url,
      async close() {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        await closed;
        await connecta.close();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}
