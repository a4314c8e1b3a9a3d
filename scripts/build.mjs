// `npm run build`: the shell and the host page, then the server, which embeds the shell.
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { build } from "vite";
import { markBuilt, sourceHash, unmarkBuilt } from "./ensure/sources.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));

// A NODE_ENV of the caller would change the bytes of the shell.
process.env.NODE_ENV = "production";

const hash = sourceHash(root);
unmarkBuilt(root);
try {
  for (const mode of ["production", "host", "server"]) {
    await build({ root, configFile, mode, logLevel: "warn" });
  }
  markBuilt(root, hash);
} catch (error) {
  const { isTTY } = process.stderr;
  process.stderr.write(`${isTTY ? error.message : stripVTControlCharacters(error.message)}\n`);
  process.exitCode = 1;
}
