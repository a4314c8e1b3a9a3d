import { spawn } from "node:child_process";
import type { StopTimes } from "./child.ts";

/**
 * Waits at the end of a pipe that only we hold, and ends the group when we are gone: even a
 * server that was killed leaves no process behind.
 */
const SCRIPT = `
read -r _
sleep "$2"
kill -s TERM -- "-$1" || exit
sleep "$3"
kill -s KILL -- "-$1"
`;

/**
 * Has a process group ended if this process ends without doing it, as after a SIGKILL. Where there
 * is no shell, a group that ignores its closed input is left.
 * @returns what ends the watch
 */
export function watchOver(group: number, { closeMs, termMs }: StopTimes): () => void {
  const times = [closeMs, termMs].map((ms) => String(Math.ceil(ms / 1000)));
  const watch = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(group), ...times], {
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    cwd: "/",
    detached: true,
  });
  watch.on("error", () => undefined);
  watch.stdin.on("error", () => undefined);
  watch.unref();
  return () => {
    // Before its pipe closes, or it would take our word for our end.
    watch.kill("SIGKILL");
    watch.stdin.destroy();
  };
}
