import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A server before another one that makes every request look as if a page of that one had sent it:
 * what there would be if nobody looked at where a form comes from. Gives its address and its end.
 */
export async function unguarded(target: string) {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const ours = { origin: target, "sec-fetch-site": "same-origin", host: new URL(target).host };
    const passed = request(target + url, { method, headers: { ...headers, ...ours } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.once("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
