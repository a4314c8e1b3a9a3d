import { readConfig } from "../config.ts";
import type { ActivityEvent, ActivityStore } from "../shared/activity.ts";
import { followActivity } from "../shared/activity-follow.ts";
import { ActivityText } from "./activity-text.ts";
import { UsageError, type ActivityCommand } from "./cli-command.ts";
import { loadDeployment, opened } from "./cli-deployment.ts";
import { NO_EXECUTOR, write } from "./cli-print.ts";

/**
 * Prints the calls that a deployment recorded, the newest last, and goes on with those that come
 * when it is asked to follow.
 */
export async function activity(command: ActivityCommand): Promise<void> {
  const { config, warnings } = await loadDeployment(command);
  for (const warning of warnings) console.error(`connecta: ${warning}`);
  const ready = readConfig({ ...config, executor: config.executor ?? NO_EXECUTOR });
  const store = kept(ready.activity);
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort()).once("SIGTERM", () => leaving.abort());
  await print(store, command, leaving.signal);
  const used = [store, ready.storage, config.executor, ...ready.connectors];
  await Promise.all(used.map((one) => one?.close?.()));
  process.exit(0);
}

/** @throws UsageError where there is nothing that another process could read */
function kept(store: ActivityStore | undefined): ActivityStore {
  if (store && store.isVolatile !== true) return store;
  const why = store
    ? "nothing is kept beyond the server's process"
    : "the config says activity: false";
  throw new UsageError(`${why}: activity: fileActivity({ file: "activity.jsonl" }) keeps it.`);
}

async function print(
  store: ActivityStore,
  command: ActivityCommand,
  signal: AbortSignal,
): Promise<void> {
  const { connector, outcome, limit, follow, json } = command;
  const text = new ActivityText(process.stdout.columns);
  const show = (events: readonly ActivityEvent[]) =>
    write(json ? events.map((event) => `${JSON.stringify(event)}\n`).join("") : text.of(events));
  const { events, cursor } = opened(await store.read({ connector, outcome, limit }));
  if (!(await show(events.toReversed())) || !follow) return;
  for await (const more of followActivity(store, cursor, { connector, outcome, signal })) {
    if (!(await show(opened(more)))) return;
  }
}
