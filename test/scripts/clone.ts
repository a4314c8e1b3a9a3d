import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SCRIPTS = fileURLToPath(new URL("../../scripts", import.meta.url));

/** A stand-in for the real build: says on `builds.log` that it ran and leaves what a build leaves. */
const BUILD = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILT, markBuilt, sourceHash } from "./ensure/sources.mjs";
const root = process.cwd();
appendFileSync("builds.log", "built with NODE_ENV=" + process.env.NODE_ENV + "\\n");
console.log("a line on stdout of the build");
if (existsSync("server/broken.ts")) {
  console.error("server/broken.ts: does not parse");
  process.exit(1);
}
if (existsSync("server/killer.ts")) process.kill(process.ppid, "SIGKILL");
for (const name of BUILT) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), "");
}
markBuilt(root, sourceHash(root));
`;

const PACKAGE = {
  name: "clone",
  version: "1.0.0",
  private: true,
  devDependencies: { tool: "file:tool" },
};

const LOCK = {
  name: "clone",
  version: "1.0.0",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": { name: "clone", version: "1.0.0", devDependencies: { tool: "file:tool" } },
    "node_modules/tool": { resolved: "tool", link: true },
    tool: { version: "1.0.0", dev: true },
  },
};

/** A program's whole life, as a caller sees it. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A fresh clone in miniature: the real scripts, one local package, a build that only pretends. */
export class Clone {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "connecta-clone-")));

  constructor() {
    cpSync(SCRIPTS, join(this.root, "scripts"), { recursive: true });
    this.write("scripts/build.mjs", BUILD);
    this.write("package.json", JSON.stringify(PACKAGE));
    this.write("package-lock.json", JSON.stringify(LOCK));
    this.write("tool/package.json", JSON.stringify({ name: "tool", version: "1.0.0" }));
    this.write("server/index.ts", "export {};\n");
  }

  write(name: string, text: string): void {
    const file = join(this.root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Runs a script of the clone with Node to its end. */
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [...args], {
        cwd: this.root,
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
