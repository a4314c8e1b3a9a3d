// @ts-check
import config from "./connecta.config.mjs";
import { serve } from "./deployment.mjs";

const { PUBLIC_URL, PASSPHRASE, REDIRECT_HOSTS = "", PORT = "8787" } = process.env;

try {
  const server = await serve(config, {
    ...(PUBLIC_URL && { publicUrl: PUBLIC_URL }),
    passphrase: PASSPHRASE ?? "",
    redirectHosts: REDIRECT_HOSTS.split(",").filter((host) => host !== ""),
    port: Number(PORT),
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
  console.log(`listening ${server.url}`);
} catch (error) {
  console.error(`issuer: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
