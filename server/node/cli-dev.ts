import { fork, type ChildProcess } from "node:child_process";
import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { DEV_SERVER, UsageError, type Sources } from "./cli-command.ts";
import { configPath } from "./load-config.ts";
import { whenParentEnds } from "./parent.ts";

const SETTLE_MS = 100;
/** What a config is written in; what a deployment writes, such as a store, is none of it. */
const SOURCE = /(?:\.(?:[cm]?[jt]s|json)|^\.env)$/;

/**
 * Runs the server of this command line in a process of its own, and starts it again whenever a file
 * beside the config changed: modules that were imported once cannot be read again.
 */
export function dev(sources: Sources): void {
  const [, script = "", ...words] = process.argv;
  let server: ChildProcess | undefined;
  let port: number | undefined;
  let ending = false;
  let settling: NodeJS.Timeout | undefined;
  const start = () => {
    const args = port === undefined ? words : [...words, "--port", String(port)];
    const child = fork(script, args, { env: { ...process.env, [DEV_SERVER]: "1" } });
    server = child;
    child.on("message", (message) => {
      if (isListening(message)) port = message.port;
    });
    child.once("exit", (code) => {
      const isReplaced = server !== child;
      if (!isReplaced) server = undefined;
      if (ending || port === undefined) process.exit(code ?? 1);
      if (isReplaced) start();
      else console.error("connecta: the server ended; it starts again when a file changes.");
    });
  };
  const restart = () => {
    if (ending) return;
    const old = server;
    server = undefined;
    if (old === undefined) start();
    else if (old.connected) old.send("close");
  };
  const end = () => {
    ending = true;
    if (server === undefined) process.exit(0);
    if (server.connected) server.send("close");
  };
  watchSources(sources, () => {
    clearTimeout(settling);
    settling = setTimeout(restart, SETTLE_MS);
  });
  process.on("SIGINT", end).on("SIGTERM", end);
  if (process.env.npm_lifecycle_event !== undefined) whenParentEnds(end);
  start();
}

/** Tells the process that started this server, if {@link dev} did, where it listens. */
export function tellDev(port: number, close: () => void): void {
  process.send?.({ port });
  process.on("message", (message) => {
    if (message === "close") close();
  });
  process.on("disconnect", close);
}

function isListening(message: unknown): message is { readonly port: number } {
  return typeof message === "object" && message !== null && "port" in message;
}

/** Calls back at every change; @throws UsageError for a folder that is not there */
function watchSources({ config, mcpConfigs }: Sources, changed: () => void): void {
  const path = configPath(config);
  const names = new Map<string, (name: string) => boolean>([
    [dirname(path), (name) => SOURCE.test(name)],
  ]);
  for (const file of mcpConfigs.map((one) => resolve(one))) {
    const others = names.get(dirname(file));
    names.set(dirname(file), (name) => name === basename(file) || (others?.(name) ?? false));
  }
  for (const [folder, isOurs] of names) {
    try {
      watch(folder, (_, name) => {
        if (name !== null && isOurs(name)) changed();
      });
    } catch {
      throw new UsageError(`${folder} cannot be watched: is it there?`);
    }
  }
}
