import { afterAll, beforeAll, describe } from "vitest";
import { redisStorage } from "../../../server/node/storage-redis.ts";
import { HAS_REDIS, REDIS_NOTE, startRedis, type RedisServer } from "../../support/redis.ts";
import { storageSuite } from "./suite.ts";

describe.skipIf(!HAS_REDIS)(`over the network${REDIS_NOTE}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis("--appendonly", "no");
  });
  afterAll(() => server.remove());

  let stores = 0;
  storageSuite("Redis", (now) =>
    redisStorage({ url: server.url, prefix: `suite-${stores++}`, now }),
  );
});
