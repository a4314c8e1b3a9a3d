// @ts-check
import { DynamicWorkerExecutor } from "@cloudflare/codemode";
import { storageActivity } from "connecta";
import { durableStorage, serve } from "connecta/worker";
import config from "./connecta.config.mjs";

export { StorageObject } from "connecta/worker";

export default serve((env) => {
  const storage = durableStorage({ namespace: env.STORE });
  return {
    ...config,
    executor: new DynamicWorkerExecutor({ loader: env.LOADER }),
    storage,
    activity: storageActivity({ storage, flushMs: 0 }),
    // A secret: `npx wrangler secret put CONNECTA_TOKEN`. Without one only this machine may call.
    ...(env.CONNECTA_TOKEN && { auth: { bearer: env.CONNECTA_TOKEN } }),
  };
});
