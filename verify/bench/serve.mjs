// `PORT=… npm run bench:serve`: the fixture connectors through the real server, without auth, on
// loopback, for any load generator.
import { findDriver } from "./driver.mjs";

const stop = (message) => {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(1);
};

const found = findDriver();
if (!found.ok) stop(found.message);

// The package as a user imports it: what is measured is what is built.
const { listen } = await import("connecta/node").catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  return stop("the server is not built: run `npm run build` first.");
});
const { default: config } = await import("./connecta.config.mjs");

const started = await listen(config, { port: Number(process.env.PORT ?? 8787) });
if (!started.ok) stop(started.failure.message);
process.stdout.write(`listening ${started.value.url}\n`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await started.value.close();
    process.exit(0);
  });
}
