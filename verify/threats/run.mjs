import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NAMES = "/etc/resolv.conf";
const ADDRESS = "10.77.0.1";

/** Gives this network an interface, a way out that leads nowhere, and names that we answer for. */
function furnish() {
  const run = (line) => {
    const [command, ...args] = line.split(" ");
    execFileSync(command, args, { stdio: "inherit" });
  };
  run("ip link set lo up");
  run("ip link add v0 type veth peer name v1");
  run(`ip addr add ${ADDRESS}/24 dev v0`);
  run("ip link set v0 up");
  run("ip link set v1 up");
  run("ip route add default via 10.77.0.2");
  const folder = mkdtempSync(join(tmpdir(), "names-"));
  writeFileSync(join(folder, "names"), "nameserver 127.0.0.1\n");
  run(`mount --bind ${join(folder, "names")} ${realpathSync(NAMES)}`);
  rmSync(folder, { recursive: true });
}

/** Runs a module of ours as the tests do, with code that travels. */
async function load(file) {
  const { module: build } = await runnerImport(`${ROOT}shell/build.ts`);
  const plugins = [build.travel()];
  const { module } = await runnerImport(file, { root: ROOT, plugins, logLevel: "error" });
  return module.default;
}

const [browser, network] = process.argv.slice(2);
if (network === "own") furnish();
if (browser !== "none") {
  const measure = await load(fileURLToPath(new URL("./main.ts", import.meta.url)));
  const run = await measure(browser, network === "own" ? ADDRESS : undefined);
  process.stdout.write(JSON.stringify(run), () => process.exit(0));
}
