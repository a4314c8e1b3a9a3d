import { createServer } from "node:http";
import { answerTo } from "./downstream.mjs";

/**
 * An MCP server over HTTP that drops connections, hangs and sends no JSON when it is asked to.
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startDownstream() {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { body, misbehave } = answerTo(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    if (misbehave === "crash") return request.socket.destroy();
    // Who hangs is left alone until the caller gives up.
    if (misbehave === "hang") return undefined;
    if (!body && !misbehave) return response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(misbehave === "garbage" ? '{"jsonrpc": "2.0", "id": ' : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
