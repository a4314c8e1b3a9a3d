import { activity } from "./cli-activity.ts";
import { ConfigError } from "../config.ts";
import { VERSION } from "../version.ts";
import { credentials } from "./cli-credentials.ts";
import { readCommand, USAGE, UsageError, type Command } from "./cli-command.ts";
import { serve } from "./cli-serve.ts";
import { tokens } from "./cli-tokens.ts";
import { tools } from "./cli-tools.ts";

try {
  await run(readCommand(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ConfigError)) throw error;
  console.error(`connecta: ${error.message}`);
  process.exit(1);
}

function run(command: Command): void | Promise<void> {
  switch (command.name) {
    case "help":
      return console.log(USAGE);
    case "version":
      return console.log(VERSION);
    case "tokens":
      return tokens(command);
    case "tools":
      return tools(command);
    case "activity":
      return activity(command);
    case "credentials":
      return credentials(command);
    default:
      return serve(command);
  }
}
