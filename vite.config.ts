import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig, type UserConfig } from "vite";
import { builtShell, shellBuild, travel } from "./shell/build.ts";
import { bundled } from "./verify/support/bundle.ts";

const root = fileURLToPath(new URL(".", import.meta.url));

/**
 * The gateway for Node: entries only, packages stay packages, except for the interpreter, whose
 * process may read nothing but its own program, and of what has many files that slow a start.
 */
const server: UserConfig = {
  plugins: [builtShell(root), travel()],
  ssr: { noExternal: [/quickjs/, "@opentelemetry/api", "commander"] },
  build: {
    outDir: "dist/server",
    emptyOutDir: true,
    ssr: true,
    target: "node20",
    minify: false,
    rollupOptions: {
      external: /^cloudflare:/,
      input: {
        index: "server/index.ts",
        node: "server/node/index.ts",
        worker: "server/worker/index.ts",
        cli: "server/node/cli.ts",
        sandbox: "server/sandbox/pool.ts",
        "sandbox-process": "server/sandbox/process.ts",
        "source-worker": "server/node/source-worker.ts",
      },
    },
  },
};

/** The host page: playground, preview and the host that the browser check drives. */
const host: UserConfig = {
  plugins: [builtShell(root)],
  build: {
    outDir: "dist/host",
    assetsDir: "host/assets",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      input: { index: "verify/host/index.html", sandbox: "verify/host/sandbox.html" },
    },
  },
};

export default defineConfig(async ({ mode }): Promise<UserConfig> => ({
  root,
  appType: "mpa",
  publicDir: false,
  ...(mode === "host"
    ? host
    : mode === "server"
      ? server
      : mode === "test"
        ? await tests()
        : shellBuild(root)),
}));

/** Whatever starts processes does so one file after the other. */
const VERIFY = {
  environment: "node",
  fileParallelism: false,
  css: true,
  testTimeout: 60_000,
  hookTimeout: 120_000,
} as const;

/** Rooms in Node, the shell in happy-dom, the built thing in Chromium, the gateway in workerd. */
const tests = async (): Promise<UserConfig> => {
  const withWorkers = hasWorkers();
  const config = {
    plugins: [builtShell(root), travel()],
    test: {
      projects: [
        {
          extends: true,
          test: {
            name: "unit",
            environment: "node",
            include: ["test/**/*.test.ts"],
            exclude: [
              "test/shell/**",
              "test/workers/**",
              ...(withWorkers ? [] : ["test/worker/access*.test.ts"]),
            ],
            // The operator page's look is a style sheet read as text.
            css: true,
          },
        },
        {
          extends: true,
          test: {
            name: "shell",
            environment: "happy-dom",
            include: ["test/shell/**/*.test.ts"],
            // The looks of a view are style sheets read as text.
            css: true,
          },
        },
        {
          extends: true,
          test: {
            ...VERIFY,
            name: "verify",
            include: ["verify/**/*.test.ts"],
            exclude: withWorkers ? [] : ["verify/worker*.test.ts"],
          },
        },
        ...(withWorkers ? await workers() : []),
      ],
    },
  };
  return config as UserConfig;
};

/** Whether the Workers runtime has a binary here; says so when it has none. */
function hasWorkers(): boolean {
  try {
    const require = createRequire(import.meta.url);
    createRequire(require.resolve("wrangler/package.json"))("workerd");
    return true;
  } catch {
    console.warn("The tests of the Worker are skipped: workerd has no binary for this machine.");
    return false;
  }
}

/** The gateway as a Worker. */
async function workers() {
  const { cloudflareTest } = await import("@cloudflare/vitest-pool-workers");
  let script: Promise<string> | undefined;
  const compatibilityDate = "2026-04-01";
  const plugin = cloudflareTest(async () => ({
    miniflare: {
      compatibilityDate,
      // The test runner needs it; the gateway does not.
      compatibilityFlags: ["nodejs_compat"],
      serviceBindings: { GATEWAY: "gateway" },
      kvNamespaces: ["KV"],
      durableObjects: { STORE: { className: "StorageObject", scriptName: "gateway" } },
      workers: [
        {
          name: "gateway",
          compatibilityDate,
          compatibilityFlags: ["enable_request_signal"],
          modules: true,
          script: await (script ??= bundled(root, "test/workers/gateway.ts")),
          workerLoaders: { LOADER: {} },
          kvNamespaces: ["KV"],
          durableObjects: { STORE: { className: "StorageObject", useSQLite: true } },
        },
      ],
    },
  }));
  return [
    {
      extends: true,
      plugins: [plugin],
      test: {
        name: "workers",
        include: ["test/workers/**/*.test.ts"],
        fileParallelism: false,
        testTimeout: 120_000,
      },
    },
    {
      extends: true,
      test: {
        ...VERIFY,
        name: "verify on workers",
        include: ["verify/{browser,http}.test.ts"],
        env: { CONNECTA_RUNTIME: "workers" },
      },
    },
  ];
}
