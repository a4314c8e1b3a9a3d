// `PORT=…`: the built gateway as a Worker in the runtime on this machine, for the benchmark.
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { build } from "vite";

const built = await build({
  configFile: false,
  logLevel: "error",
  ssr: { noExternal: true, target: "webworker" },
  build: {
    ssr: true,
    write: false,
    rollupOptions: {
      input: fileURLToPath(new URL("worker.mjs", import.meta.url)),
      external: /^cloudflare:/,
      output: { codeSplitting: false },
    },
  },
});

const worker = new Miniflare({
  port: Number(process.env.PORT ?? 8787),
  modules: true,
  script: [built].flat()[0].output[0].code,
  compatibilityDate: "2026-04-01",
  compatibilityFlags: ["enable_request_signal"],
  workerLoaders: { LOADER: {} },
  cf: false,
});
process.stdout.write(`listening ${(await worker.ready).href}\n`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await worker.dispose();
    process.exit(0);
  });
}
