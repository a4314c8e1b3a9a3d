// `npm run build`: the shell and the host page, then the server, which embeds the shell;
// beside them the declarations.
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { build } from "vite";
import { emitTypes } from "./types.mjs";
import { markBuilt, sourceHash, unmarkBuilt } from "./ensure/sources.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));

// A NODE_ENV of the caller would change the bytes of the shell.
process.env.NODE_ENV = "production";

const hash = sourceHash(root);
unmarkBuilt(root);
try {
  // Declarations need nothing of the builds, and most of their time is another process's.
  const types = emitTypes(root).then(
    () => undefined,
    (error) => error,
  );
  for (const mode of ["production", "host", "server"]) {
    await build({ root, configFile, mode, logLevel: "warn" });
  }
  const problem = await types;
  if (problem) throw problem;
  markBuilt(root, hash);
} catch (error) {
  const { isTTY } = process.stderr;
  process.stderr.write(`${isTTY ? error.message : stripVTControlCharacters(error.message)}\n`);
  process.exitCode = 1;
}
