/**
 * What is done to the keys of one shard, each in one call. A key is a field of a hash of some dozens of them,
 * which Redis keeps as one flat piece of memory: 14 bytes of the id (the other two name the hash), and as its
 * value the 24 bytes behind the id in a record (fingerprint, occurredAt, createdAt) and the owner, 8 bytes.
 *
 * An owner is one claim. While it is neither confirmed nor released a key of its own, `r` and the owner,
 * holds the end of its lease by the server's clock; without it all its keys are durable. So a confirmation is
 * one deletion, however many keys there are. `t` and the owner holds the ids that another has taken over.
 *
 * A key counts for the keeping time after its createdAt, then it is as good as swept; both keys of an owner
 * are kept twice as long. Otherwise a claim that no process knows would be called durable in the end.
 */
const HEAD = `
local sub, byte, call = string.sub, string.byte, redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('EPOCH is another') end
local prefix, owner, keepMs = KEYS[2], ARGV[2], tonumber(ARGV[3])
local leaseKey, takenKey = prefix .. 'r' .. owner, prefix .. 't' .. owner
`;

/** Bits next to the outcome in the claim's result per item. */
export const FLAG = { outcome: 3, own: 16, pending: 32, takenOver: 64 } as const;

/** Processes of two releases may take leases of two lengths. */
const LEASE_SLACK_MS = 60_000;
/** One of so many new keys looks through its hash for those that are older than the window. */
const SWEPT_ONE_IN = 64;

/**
 * KEYS epoch, prefix; ARGV epoch, owner, keeping time and lease in milliseconds, records, read-only bytes.
 */
export const CLAIM = `${HEAD}
local leaseMs, records, readOnly = ARGV[4], ARGV[5], ARGV[6]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local outcomes, times, leases = {}, {}, {}
local isHolding = false
-- First: a script that fails midway is not rolled back, and keys without their owner's lease are durable.
local leaseEnd = string.format('%.0f', now + leaseMs)
local isNewLease = call('SET', leaseKey, leaseEnd, 'PX', 2 * keepMs, 'NX')

local function isForgotten(known)
  return struct.unpack('<d', known, 17) < now - keepMs
end

local function sweep(bucket)
  local all = call('HGETALL', bucket)
  for at = 1, #all, 2 do
    if isForgotten(all[at + 1]) then call('HDEL', bucket, all[at]) end
  end
end

-- The end of another claim's lease; false when it is durable. One that lies further ahead than any that is
-- taken now was written by a clock that was ahead: it is cut down, or its keys would be pending till then.
local function leaseOf(other)
  if leases[other] == nil then
    local ends = tonumber(call('GET', prefix .. 'r' .. other) or nil) or false
    if ends and ends > now + leaseMs + ${LEASE_SLACK_MS} then
      ends = now + leaseMs
      call('SET', prefix .. 'r' .. other, string.format('%.0f', ends), 'PX', 2 * keepMs)
    end
    leases[other] = ends
  end
  return leases[other]
end

local function takeOver(bucket, field, known)
  local other = prefix .. 't' .. sub(known, 25, 32)
  call('SADD', other, sub(bucket, -2) .. field)
  call('PEXPIRE', other, 2 * keepMs)
  call('HSET', bucket, field, sub(known, 1, 24) .. owner)
end

for item = 1, #records / 40 do
  local at = item * 40 - 39
  local bucket, field = prefix .. sub(records, at, at + 1), sub(records, at + 2, at + 15)
  local value = sub(records, at + 16, at + 39)
  local looksOnly = byte(readOnly, item) == 1
  local outcome = 0
  if not looksOnly and call('HSETNX', bucket, field, value .. owner) == 1 then
    outcome = 1
    if byte(field, 14) % ${SWEPT_ONE_IN} == 0 then sweep(bucket) end
  else
    local known = call('HGET', bucket, field)
    if known then
      local same = sub(known, 1, 8) == sub(value, 1, 8)
      outcome = same and 2 or 3
      local other = sub(known, 25, 32)
      local lease = other ~= owner and leaseOf(other)
      if other == owner then
        outcome = outcome + ${FLAG.own}
      elseif lease and lease > now then
        outcome = outcome + ${FLAG.pending}
      elseif looksOnly and isForgotten(known) then
        outcome = 0
      elseif same and (lease or isForgotten(known)) then
        -- A forgotten key makes a new event; flagged, since it may be on the log all the same.
        if isForgotten(known) then known = value .. other end
        outcome = 1 + ${FLAG.takenOver}
        takeOver(bucket, field, known)
      end
      if same and outcome > 0 then times[#times + 1] = sub(known, 9, 24) end
    end
  end
  isHolding = isHolding or outcome % 4 == 1
  outcomes[item] = string.char(outcome)
end
if isHolding and not isNewLease then call('SET', leaseKey, leaseEnd, 'PX', 2 * keepMs) end
if isNewLease and not isHolding then call('DEL', leaseKey) end
return {table.concat(outcomes), table.concat(times)}
`;

/** ARGV epoch, owner. Returns the ids that another process has taken over. */
export const CONFIRM = `${HEAD}
local lost = call('SMEMBERS', takenKey)
call('DEL', leaseKey, takenKey)
return lost
`;

/**
 * ARGV epoch, owner, keeping time, records, and a byte per record: 1 where it was taken over and may be on
 * the log. Such a record is never freed; its lease is over.
 */
export const RELEASE = `${HEAD}
local records, takenOver = ARGV[4], ARGV[5]
local mayBeOnLog = false
for item = 1, #records / 40 do
  local at = item * 40 - 39
  local bucket, field = prefix .. sub(records, at, at + 1), sub(records, at + 2, at + 15)
  local known = call('HGET', bucket, field)
  if known and sub(known, 25, 32) == owner then
    if byte(takenOver, item) == 1 then mayBeOnLog = true else call('HDEL', bucket, field) end
  end
end
if mayBeOnLog then call('SET', leaseKey, '0', 'PX', 2 * keepMs) else call('DEL', leaseKey) end
call('DEL', takenKey)
return 1
`;
