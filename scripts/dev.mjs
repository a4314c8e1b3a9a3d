// `npm run dev`: builds the shell, the host page and the server again whenever a source changes, and
// starts the server again whenever what it serves changed; for its configuration it does so itself.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const at = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const CONFIG = "examples/node/connecta.config.mjs";
const SERVER = ["scripts/connecta.mjs", "dev", "--config", CONFIG];
const BUILDS = { production: "the shell", host: "the host page", server: "the server" };
const SETTLE_MS = 150;

const say = (line) => process.stderr.write(`${line}\n`);

const ensured = spawnSync(process.execPath, [at("scripts/ensure.mjs")], { stdio: "inherit" });
if (ensured.status !== 0) process.exit(ensured.status ?? 1);

// Loaded only now: on a fresh clone vite does not exist before.
const { build, createLogger } = await import("vite");
const { unmarkBuilt } = await import("./ensure/sources.mjs");

let server;
let stopping = false;
let settling;
let turn = Promise.resolve();
const closers = [];

function start() {
  const child = spawn(process.execPath, SERVER, { cwd: root, stdio: "inherit" });
  server = child;
  child.once("exit", () => {
    if (server === child && !stopping)
      say("connecta dev: the server ended; change a file to start it");
  });
}

async function end(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => {
    child.once("exit", resolve);
    child.kill("SIGTERM");
  });
}

async function restart() {
  const old = server;
  server = undefined;
  await end(old);
  if (!stopping) start();
}

// Several outputs change together; one restart at a time, or two servers want one port.
function restartSoon() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    turn = turn.then(restart);
  }, SETTLE_MS);
}

async function stop() {
  if (stopping) return;
  stopping = true;
  clearTimeout(settling);
  await Promise.all([turn.then(() => end(server)), ...closers.map((close) => close())]);
  process.exit(0);
}

/** Builds once, and again at every change; `changed` hears of the later builds. */
async function keepBuilt(mode, changed) {
  // Stdout belongs to the server's one line.
  const logger = createLogger("warn");
  Object.assign(logger, { info: () => undefined, warn: say, warnOnce: say, error: say });
  const watcher = await build({
    root,
    configFile: at("vite.config.ts"),
    mode,
    logLevel: "warn",
    customLogger: logger,
    build: { watch: {} },
  });
  closers.push(() => watcher.close());
  let built = false;
  await new Promise((resolve) => {
    watcher.on("event", (event) => {
      if (event.code === "BUNDLE_END") {
        void event.result.close();
        say(`connecta dev: built ${BUILDS[mode]} in ${event.duration} ms`);
        if (built) changed();
      }
      if (event.code === "END" || event.code === "ERROR") {
        built = true;
        resolve();
      }
    });
  });
}

process.on("SIGINT", stop);
process.on("SIGTERM", stop);
// What a watcher writes is not the build that the stamp describes.
unmarkBuilt(root);
process.env.NODE_ENV = "production";
await keepBuilt("production", restartSoon);
await keepBuilt("host", () => undefined);
await keepBuilt("server", restartSoon);
start();
