/**
 * Lua scripts for the admissions of one organization, since Redis runs a script
 * atomically. Each organization is one key, so that in a Redis Cluster a script
 * runs at any moment of the migration of its slot: with several keys, some of
 * them absent, it would be refused with TRYAGAIN until the migration has ended.
 *
 * The key is a sorted set. The kind of a member is seen from its score:
 *
 * - from 0: the window of the current minute. `minute`; `R`, `T`: requests and
 *   tokens of the organization; `r:<key>`, `t:<key>`: of a key; `a:<id>`: the
 *   tokens of an admission of this minute that has not finished.
 * - from -10^14 to 0: `h:<key>`, the negative number of running admissions of a key.
 * - below -10^14: `s:<id>`, a running admission; the score is the time at which
 *   its lease expires, minus 10^15.
 *
 * The key expires when it is no longer used.
 */

/** A window outlives its minute, so that a clock that steps back finds it. */
const WINDOW_TTL_MS = 120_000;
/** Added to the lease, so that the key outlives every lease in it. */
const SLOTS_TTL_MARGIN_MS = 60_000;

/** The score of a lease that expires at this time. */
export function leaseScore(expiresMs: number): number {
  return expiresMs - 1e15;
}
/** The highest score of a lease. */
export const MAX_LEASE_SCORE = -1e14;

const PROLOGUE = `
local counts = KEYS[1]
local lease = tonumber(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(value) return tonumber(value) or 0 end

local minute = math.floor(now / 60000)
local counted = whole(redis.call('ZSCORE', counts, 'minute'))
-- Another node's clock may be slightly behind: a minute that has started stays.
if counted ~= minute and counted ~= minute + 1 then
  if counted > 0 then redis.call('ZREMRANGEBYSCORE', counts, '0', '+inf') end
  redis.call('ZADD', counts, minute, 'minute')
end

-- Last: after any other write, Redis no longer refuses those that need memory.
local function extendTtl()
  redis.call('PEXPIRE', counts, math.max(${WINDOW_TTL_MS}, lease + ${SLOTS_TTL_MARGIN_MS}))
end

local function add(member, change) return whole(redis.call('ZINCRBY', counts, change, member)) end

local function freeSlot(id)
  if redis.call('ZREM', counts, 's:' .. id) == 0 then return end
  local held = 'h:' .. string.match(id, '^[^/]*')
  if add(held, 1) >= 0 then redis.call('ZREM', counts, held) end
end

local leaseOrigin = 1e15
for _, member in ipairs(redis.call('ZRANGEBYSCORE', counts, '-inf', now - leaseOrigin)) do
  freeSlot(string.sub(member, 3))
end

local function leaseSlot(id) redis.call('ZADD', counts, now + lease - leaseOrigin, 's:' .. id) end
`;

/**
 * ARGV after clock and lease: nine for each admission, its id as
 * `<key>/<admission>`, the key's id, its tokens, and the limits in the order of
 * `CHECKS`; an empty limit does not apply. Returns the time in milliseconds, then
 * seven numbers for each admission: the 1-based number of the limit that refuses,
 * or 0; then requests, tokens and slots of the key and of the organization after
 * the decision. Slots of an organization without such a limit are not counted.
 */
export const ADMIT_SCRIPT = `${PROLOGUE}
local function fitsRequests(limit, requests) return requests < limit end
-- An empty window admits a request larger than the whole limit, which could otherwise never run.
local function fitsTokens(limit, used, tokens) return limit > 0 and (used == 0 or used + tokens <= limit) end

local result = { now }
for from = 3, #ARGV, 9 do
  local id, key, tokens = ARGV[from], ARGV[from + 1], tonumber(ARGV[from + 2])
  local function limit(number) return tonumber(ARGV[from + 2 + number]) end
  local scores = redis.call('ZMSCORE', counts, 'r:' .. key, 't:' .. key, 'R', 'T', 'h:' .. key, 's:' .. id, 'a:' .. id)
  local kr, kt, r, t = whole(scores[1]), whole(scores[2]), whole(scores[3]), whole(scores[4])
  local refused = 0
  local ks = -whole(scores[5])
  local s = limit(6) and redis.call('ZCOUNT', counts, '-inf', '${MAX_LEASE_SCORE}') or 0
  local known = scores[6] or scores[7]
  if not known then
    if limit(1) and not fitsRequests(limit(1), kr) then refused = 1
    elseif limit(2) and not fitsRequests(limit(2), r) then refused = 2
    elseif limit(3) and not fitsTokens(limit(3), kt, tokens) then refused = 3
    elseif limit(4) and not fitsTokens(limit(4), t, tokens) then refused = 4
    elseif limit(5) and ks >= limit(5) then refused = 5
    elseif limit(6) and s >= limit(6) then refused = 6
    else
      kr, r = add('r:' .. key, 1), add('R', 1)
      kt, t = add('t:' .. key, tokens), add('T', tokens)
      redis.call('ZADD', counts, tokens, 'a:' .. id)
      ks, s = -add('h:' .. key, -1), s + 1
      leaseSlot(id)
    end
  end
  for _, number in ipairs({ refused, kr, kt, ks, r, t, s }) do result[#result + 1] = number end
end
extendTtl()
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
  local tokens = redis.call('ZSCORE', counts, 'a:' .. id)
  if tokens then
    redis.call('ZREM', counts, 'a:' .. id)
    local change = (used or 0) - tokens
    add('t:' .. key, change)
    add('T', change)
    if not used then
      add('r:' .. key, -1)
      add('R', -1)
    end
  end
end
extendTtl()
return redis.status_reply('OK')
`;

/** ARGV after clock and lease: the ids of the admissions. */
export const RENEW_SCRIPT = `${PROLOGUE}
for from = 3, #ARGV do
  if redis.call('ZSCORE', counts, 's:' .. ARGV[from]) then leaseSlot(ARGV[from]) end
end
extendTtl()
return redis.status_reply('OK')
`;

/** Writes in the way of the other scripts, also when nothing has changed. */
export const PROBE_SCRIPT = `
redis.call('ZADD', KEYS[1], 0, 'probe')
redis.call('PEXPIRE', KEYS[1], ${WINDOW_TTL_MS})
return redis.status_reply('OK')
`;
