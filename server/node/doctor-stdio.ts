import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Failure } from "../shared/failure.ts";
import type { Stopped } from "./doctor-remote.ts";

/** Steps to the tool list of a server that is started. */
export const STDIO_STEPS = ["command", "auth", "initialize", "list"] as const;

type Step = (typeof STDIO_STEPS)[number];

/** What is started. */
export interface Started {
  readonly command: string;
  readonly cwd: string;
}

/** So many of the last lines of a process. */
const TAIL_LINES = 20;

/** Says why a server that is started did not list its tools. */
export function whyStdio(
  id: string,
  { command, cwd }: Started,
  failure: Failure,
  output: string,
): Stopped<Step> {
  if (!isThere(command, cwd)) {
    const cause = `There is no command ${command} that could be started.`;
    const fix = "Install it, or write its whole path as command in the config.";
    return { step: "command", finding: { code: "command_missing", cause, fix } };
  }
  if (failure.code === "auth_required") {
    const fix = `Hand it over: connecta credentials set ${id}.`;
    const finding = { code: "credential_missing", cause: failure.message, fix };
    return { step: "auth", finding };
  }
  const errorOutput = output.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const finding = {
    code: "process_failed",
    cause: failure.message,
    fix: "Run the command of the config by hand: what it says on stderr is what is missing.",
    ...(errorOutput !== "" && { errorOutput }),
  };
  return { step: "initialize", finding };
}

/** Whether the system would find a program under this name. */
function isThere(command: string, cwd: string): boolean {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [""] : (process.env.PATH ?? "").split(delimiter);
  const endings = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
  return folders.some((folder) =>
    endings.some((ending) => {
      const file = isPath ? resolve(cwd, command) : join(folder, command);
      try {
        accessSync(file + ending, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}
