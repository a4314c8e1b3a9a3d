export { serve, type WorkerHandler } from "./handler.ts";
export { kvStorage, type KvNamespace, type KvStorageOptions } from "./storage-kv.ts";
export {
  durableStorage,
  type DurableStorageOptions,
  type StorageNamespace,
} from "./storage-durable.ts";
export { StorageObject } from "./storage-object.ts";
