#!/usr/bin/env node
import { existsSync } from "node:fs";

const cli = new URL("../dist/server/cli.js", import.meta.url);

if (existsSync(cli)) {
  await import(cli.href);
} else {
  process.stderr.write("connecta is not built: run `npm run build` first.\n");
  process.exitCode = 1;
}
