import { fileURLToPath } from "node:url";
import { defineConfig, type UserConfig } from "vite";
import { builtShell, shellBuild, travel } from "./shell/build.ts";

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
      input: {
        index: "server/index.ts",
        node: "server/node/index.ts",
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

export default defineConfig(({ mode }) => ({
  root,
  appType: "mpa",
  publicDir: false,
  ...(mode === "host"
    ? host
    : mode === "server"
      ? server
      : mode === "test"
        ? tests
        : shellBuild(root)),
}));

/** Three projects: rooms in Node, the shell in happy-dom, the built thing in Chromium. */
const tests = {
  plugins: [builtShell(root), travel()],
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/shell/**"],
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
          name: "verify",
          environment: "node",
          include: ["verify/**/*.test.ts"],
          fileParallelism: false,
          css: true,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
} as UserConfig;
