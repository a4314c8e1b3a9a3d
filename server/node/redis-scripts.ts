import { createHash } from "node:crypto";

/** What a server runs as one step, and the name under which it remembers it. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** Values that are over and are cleared away with one write. */
const SWEEP_COUNT = 100;
/** The server's own end comes later than ours, whose clock may be another one. */
const SPARE_MS = 60_000;

// KEYS: all keys in their order, and the ends of those that have one. ARGV: the beginning of the
// keys that hold values, and the time in ms, empty for the server's. Then what a script takes.
const PRELUDE = `
local KEYS_IN_ORDER, ENDS, VALUES = KEYS[1], KEYS[2], ARGV[1]
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local function over(key)
  local ends = redis.call('ZSCORE', ENDS, key)
  return ends and tonumber(ends) <= now
end
local function read(key)
  if over(key) then return false end
  return redis.call('GET', VALUES .. key)
end
local function drop(key)
  redis.call('DEL', VALUES .. key)
  redis.call('ZREM', KEYS_IN_ORDER, key)
  redis.call('ZREM', ENDS, key)
end
local function write(key, value, ttl)
  local gone = redis.call('ZRANGEBYSCORE', ENDS, '-inf', whole(now), 'LIMIT', 0, ${SWEEP_COUNT})
  for _, old in ipairs(gone) do drop(old) end
  if ttl == '' then
    redis.call('SET', VALUES .. key, value)
    redis.call('ZREM', ENDS, key)
  else
    redis.call('SET', VALUES .. key, value, 'PX', whole(tonumber(ttl) + ${SPARE_MS}))
    local ends = math.min(now + tonumber(ttl), ${Number.MAX_SAFE_INTEGER})
    redis.call('ZADD', ENDS, whole(ends), key)
  end
  redis.call('ZADD', KEYS_IN_ORDER, 0, key)
end
`;

/** Takes the key. */
export const GET = script("return read(ARGV[3])");

/** Takes the key, the value, and its milliseconds or nothing. */
export const SET = script("write(ARGV[3], ARGV[4], ARGV[5])");

/** Takes the key. */
export const DELETE = script("drop(ARGV[3])");

/** Takes the key, the value, its milliseconds or nothing, and the expected value where one is. */
export const COMPARE_AND_SET = script(`
local current = read(ARGV[3])
if current ~= (ARGV[6] or false) then return 0 end
write(ARGV[3], ARGV[4], ARGV[5])
return 1`);

/** Takes the first bound, the prefix, and how many keys to give at most. */
export const LIST = script(`
local from, limit, found = ARGV[3], tonumber(ARGV[5]), {}
local to = '(' .. ARGV[4] .. '\\255'
repeat
  local page = redis.call('ZRANGEBYLEX', KEYS_IN_ORDER, from, to, 'LIMIT', 0, limit)
  for _, key in ipairs(page) do
    if #found < limit and not over(key) and redis.call('EXISTS', VALUES .. key) == 1 then
      found[#found + 1] = key
    end
  end
  if #page > 0 then from = '(' .. page[#page] end
until #found == limit or #page == 0
return found`);

function script(body: string): Script {
  const lua = PRELUDE + body;
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}
