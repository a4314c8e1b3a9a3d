// The bindings of vite.config.ts.
declare module "cloudflare:test" {
  import type { KvNamespace, StorageNamespace } from "../../server/worker/index.ts";

  export const env: {
    readonly GATEWAY: { fetch(request: Request): Promise<Response> };
    readonly KV: KvNamespace;
    readonly STORE: StorageNamespace<unknown>;
  };
}
