import type { ActivityEvent, ActivityStore } from "../shared/activity.ts";
import { followActivity } from "../shared/activity-follow.ts";
import { ActivityText } from "./activity-text.ts";
import { UsageError, type ActivityCommand } from "./cli-command.ts";
import { opened } from "./cli-deployment.ts";
import { write } from "./cli-print.ts";
import { readyDeployment } from "./cli-ready.ts";

/**
 * Prints the calls that a deployment recorded, the newest last, and goes on with those that come
 * when it is asked to follow.
 */
export async function activity(command: ActivityCommand): Promise<void> {
  const { config, signal, close } = await readyDeployment(command);
  const store = kept(config.activity);
  await print(store, command, signal);
  await store.close?.();
  await close();
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
