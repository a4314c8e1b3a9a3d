import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nestedEnv, run, tail } from "../../scripts/ensure/child.mjs";

const QUIET = ["--no-audit", "--no-fund"];

/** The package as somebody else has it: packed, and installed into an empty folder. */
export class Installed {
  /**
   * @param {string} root the repository
   * @param {string} folder an empty one
   */
  constructor(root, folder) {
    this.root = root;
    this.folder = folder;
    this.home = join(folder, "node_modules/connecta");
  }

  /** Packs what is built and installs it, as `npm install connecta` would. */
  async install() {
    const packed = await this.#npm(
      ["pack", "--json", "--pack-destination", this.folder],
      this.root,
    );
    const [report] = Object.values(JSON.parse(packed.slice(packed.search(/^[[{]/m))));
    this.files = report.files.map(({ path }) => path);
    this.packedBytes = report.size;
    this.unpackedBytes = report.unpackedSize;
    this.write("package.json", JSON.stringify({ name: "empty", private: true, type: "module" }));
    await this.add(join(this.folder, report.filename));
    const lock = JSON.parse(this.read("node_modules/.package-lock.json"));
    this.packages = Object.keys(lock.packages).length;
    this.installedBytes = bytesBelow(join(this.folder, "node_modules"));
  }

  /** Installs more beside it. */
  async add(...packages) {
    await this.#npm(["install", ...QUIET, "--save-exact", ...packages], this.folder);
  }

  async #npm(args, cwd) {
    const { code, output } = await run("npm", args, { cwd, env: nestedEnv(process.env) });
    if (code !== 0) throw new Error(`npm ${args[0]} failed:\n${tail(output, 20)}`);
    return output;
  }

  /** Writes a file of the folder. */
  write(name, text) {
    const path = join(this.folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  }

  /** Reads a file of the folder. */
  read(name) {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** @throws Error with what was printed when the command does not end with `code` */
  async must(command, args, code = 0) {
    const done = await run(command, args, { cwd: this.folder });
    if (done.code === code) return done.output;
    throw new Error(
      `${command} ${args.join(" ")} ended with ${done.code}:\n${tail(done.output, 40)}`,
    );
  }

  /** `npx connecta …`, which must not look for the package anywhere else. */
  connecta(args, code = 0) {
    return this.must("npx", ["--no-install", "connecta", ...args], code);
  }

  /**
   * Starts `connecta` with a command that serves, on any free port.
   * @returns {Promise<{ origin: string, stop: () => Promise<number> }>} `stop` gives the exit code
   */
  async serve(args) {
    const bin = join(this.folder, "node_modules/.bin/connecta");
    const child = spawn(bin, [...args, "--port", "0"], { cwd: this.folder, stdio: "pipe" });
    let printed = "";
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stderr.on("data", (chunk) => (printed += chunk));
    const origin = await new Promise((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        printed += chunk;
        const found = /^listening (\S+)$/m.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
      ended.then((code) => reject(new Error(`connecta ended with ${code}: ${printed}`)));
    });
    const stop = () => {
      child.kill("SIGTERM");
      return ended;
    };
    return { origin, stop };
  }
}

/** One request to `/mcp`, and the result in its answer. */
export async function ask(origin, method, params) {
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text).result;
}

function bytesBelow(folder) {
  if (!existsSync(folder)) return 0;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.reduce(
    (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size,
    0,
  );
}
