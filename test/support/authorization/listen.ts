import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of a test on the loopback address. */
export interface Served {
  /** Without a slash at its end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves on any free port; the listener may be given once the address is known. */
export async function serve(listener: (origin: string) => RequestListener): Promise<Served> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on("request", listener(origin));
  return {
    origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
