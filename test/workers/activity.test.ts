import { env } from "cloudflare:test";
import { storageActivity } from "../../server/index.ts";
import { durableStorage } from "../../server/worker/index.ts";
import { activitySuite } from "../suites/activity/suite.ts";

activitySuite("a Durable Object, written at once", (name) =>
  storageActivity({ storage: durableStorage({ namespace: env.STORE, name }), flushMs: 0 }),
);
