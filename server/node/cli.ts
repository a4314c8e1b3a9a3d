import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommanderError } from "commander";
import { UsageError } from "./cli-command.ts";
import { program } from "./cli-program.ts";

const hostPage = join(dirname(fileURLToPath(import.meta.url)), "../host");

try {
  await program({ env: process.env, hostPage }).parseAsync();
} catch (error) {
  // A help or a version that was asked for is printed by now.
  if (!(error instanceof CommanderError)) {
    if (!isMistake(error)) throw error;
    console.error(`connecta: ${error.message}`);
    process.exit(1);
  }
  process.exitCode = error.exitCode;
}

/** A config's check is not loaded by commands that read no config, so it is known by its name. */
function isMistake(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof Error && error.name === "ConfigError");
}
