/**
 * Lua scripts for the admissions of one organization, since Redis runs a script
 * atomically. All keys of an organization have its id as hash tag, so they are on
 * one node of a Redis Cluster:
 *
 * - `window`: a hash of the current minute. `minute`; `R`, `T`: requests and
 *   tokens of the organization; `r:<key>`, `t:<key>`: of a key; `a:<id>`: the
 *   tokens of an admission of this minute that has not finished.
 * - `slots`: a sorted set of the running admissions by the expiry of their leases.
 * - `held`: a hash with the number of running admissions of each key.
 *
 * All three expire when they are no longer used.
 */

/** A window outlives its minute, so that a clock that steps back finds it. */
const WINDOW_TTL_MS = 120_000;
/** Added to the lease, so that the slots and the counts by key outlive every lease in them. */
const SLOTS_TTL_MARGIN_MS = 60_000;

const PROLOGUE = `
local window, slots, held = KEYS[1], KEYS[2], KEYS[3]
local lease = tonumber(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(value) return tonumber(value) or 0 end

local minute = math.floor(now / 60000)
local counted = whole(redis.call('HGET', window, 'minute'))
-- Another node's clock may be slightly behind: a minute that has started stays.
if counted ~= minute and counted ~= minute + 1 then
  redis.call('DEL', window)
  redis.call('HSET', window, 'minute', string.format('%d', minute))
  redis.call('PEXPIRE', window, ${WINDOW_TTL_MS})
end

local function freeSlot(id)
  if redis.call('ZREM', slots, id) == 0 then return end
  local key = string.match(id, '^[^/]*')
  if redis.call('HINCRBY', held, key, -1) <= 0 then redis.call('HDEL', held, key) end
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', slots, '-inf', now)) do freeSlot(id) end

local function leaseSlot(id)
  redis.call('ZADD', slots, now + lease, id)
  redis.call('PEXPIRE', slots, lease + ${SLOTS_TTL_MARGIN_MS})
  redis.call('PEXPIRE', held, lease + ${SLOTS_TTL_MARGIN_MS})
end
`;

/**
 * ARGV after clock and lease: nine for each admission, its id as
 * `<key>/<admission>`, the key's id, its tokens, and the limits in the order of
 * `CHECKS`; an empty limit does not apply. Returns the time in milliseconds, then
 * five numbers for each admission: the 1-based number of the limit that refuses,
 * or 0; then requests and tokens of the key and of the organization after the
 * decision.
 */
export const ADMIT_SCRIPT = `${PROLOGUE}
local function fitsRequests(limit, requests) return requests < limit end
-- An empty window admits a request larger than the whole limit, which could otherwise never run.
local function fitsTokens(limit, used, tokens) return limit > 0 and (used == 0 or used + tokens <= limit) end

local result = { now }
for from = 3, #ARGV, 9 do
  local id, key, tokens = ARGV[from], ARGV[from + 1], tonumber(ARGV[from + 2])
  local function limit(number) return tonumber(ARGV[from + 2 + number]) end
  local counts = redis.call('HMGET', window, 'r:' .. key, 't:' .. key, 'R', 'T')
  local kr, kt, r, t = whole(counts[1]), whole(counts[2]), whole(counts[3]), whole(counts[4])
  local refused = 0
  local known = redis.call('ZSCORE', slots, id) or redis.call('HGET', window, 'a:' .. id)
  if not known then
    local keySlots, allSlots = whole(redis.call('HGET', held, key)), redis.call('ZCARD', slots)
    if limit(1) and not fitsRequests(limit(1), kr) then refused = 1
    elseif limit(2) and not fitsRequests(limit(2), r) then refused = 2
    elseif limit(3) and not fitsTokens(limit(3), kt, tokens) then refused = 3
    elseif limit(4) and not fitsTokens(limit(4), t, tokens) then refused = 4
    elseif limit(5) and keySlots >= limit(5) then refused = 5
    elseif limit(6) and allSlots >= limit(6) then refused = 6
    else
      kr, r = redis.call('HINCRBY', window, 'r:' .. key, 1), redis.call('HINCRBY', window, 'R', 1)
      kt, t = redis.call('HINCRBY', window, 't:' .. key, tokens), redis.call('HINCRBY', window, 'T', tokens)
      redis.call('HSET', window, 'a:' .. id, tokens)
      redis.call('HINCRBY', held, key, 1)
      leaseSlot(id)
    end
  end
  for _, number in ipairs({ refused, kr, kt, r, t }) do result[#result + 1] = number end
end
return result
`;

/**
 * ARGV after clock and lease: three for each admission, its id, the key's id, and
 * the tokens that it used, empty when it was returned. An admission of a past
 * minute needs no correction, since its window is deleted.
 */
export const FINISH_SCRIPT = `${PROLOGUE}
for from = 3, #ARGV, 3 do
  local id, key, used = ARGV[from], ARGV[from + 1], tonumber(ARGV[from + 2])
  freeSlot(id)
  local tokens = redis.call('HGET', window, 'a:' .. id)
  if tokens then
    redis.call('HDEL', window, 'a:' .. id)
    local change = (used or 0) - tokens
    redis.call('HINCRBY', window, 't:' .. key, change)
    redis.call('HINCRBY', window, 'T', change)
    if not used then
      redis.call('HINCRBY', window, 'r:' .. key, -1)
      redis.call('HINCRBY', window, 'R', -1)
    end
  end
end
return redis.status_reply('OK')
`;

/** ARGV after clock and lease: the ids of the admissions. */
export const RENEW_SCRIPT = `${PROLOGUE}
for from = 3, #ARGV do
  if redis.call('ZSCORE', slots, ARGV[from]) then leaseSlot(ARGV[from]) end
end
return redis.status_reply('OK')
`;
