export { fromMcpServers } from "./mcp-config.ts";
export { listen, type Listening, type ListenOptions } from "./listen.ts";
export { nodeOutbound } from "./outbound.ts";
export { quickjsExecutor } from "../sandbox/pool.ts";
export { stdioMcp, type StdioMcpOptions } from "../connectors/stdio/stdio.ts";
export { sqliteStorage, type SqliteStorageOptions } from "./storage-sqlite.ts";
export { redisStorage, type RedisStorageOptions } from "./storage-redis.ts";
export type { RedisClient } from "./redis-link.ts";
export { fileActivity, type FileActivityOptions } from "./activity-file.ts";
