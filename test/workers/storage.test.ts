import { env } from "cloudflare:test";
import { durableStorage, kvStorage } from "../../server/worker/index.ts";
import { storageSuite } from "../suites/storage/suite.ts";

let opened = 0;

storageSuite("a Durable Object", (now) =>
  durableStorage({ namespace: env.STORE, name: `store-${opened++}`, now }),
);
storageSuite("a KV namespace", (now) =>
  kvStorage({ namespace: env.KV, prefix: `store-${opened++}/`, now }),
);
