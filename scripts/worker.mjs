// `npm run worker`: the deployment of examples/worker, served by the Workers runtime on this machine.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const CONFIG = fileURLToPath(new URL("../examples/worker/wrangler.jsonc", import.meta.url));
const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
const bin = fileURLToPath(new URL("bin/wrangler.js", `file://${wrangler}`));
const args = ["dev", "--config", CONFIG];

const child = spawn(process.execPath, [bin, ...args, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: {
    // Nothing is told to anybody, asked of anybody or looked up for a server on this machine.
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    ...process.env,
  },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
});
