/**
 * What is done to the keys of one shard, each in one call. A key is a field of a hash of some dozens of them,
 * which Redis keeps as one flat piece of memory: 14 bytes of the id (the other two name the hash) and the 24
 * bytes behind the id in a record: fingerprint, occurredAt, createdAt. While it is claimed, owner (8) and the
 * end of the lease (13 digits, by the server's clock) stand behind them: its length says that it is pending.
 */
const HEAD = `
local sub, byte, call = string.sub, string.byte, redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('BIRTH is another') end
local prefix, owner, records = KEYS[2], ARGV[2], ARGV[3]
local function place(item)
  local at = item * 40 - 39
  return prefix .. sub(records, at, at + 1), sub(records, at + 2, at + 15), sub(records, at + 16, at + 39)
end
`;

/** Bits that stand beside the outcome in what the claim answers per item. */
export const FLAG = { outcome: 3, own: 16, pending: 32, takenOver: 64 } as const;

/** One of so many new keys looks through its hash for those that are older than the window. */
const SWEPT_ONE_IN = 64;

/** KEYS birth, prefix; ARGV birth, owner, records, read-only bytes, lease and keeping time in milliseconds. */
export const CLAIM = `${HEAD}
local readOnly, keepMs = ARGV[4], tonumber(ARGV[6])
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local pending = owner .. string.format('%013.0f', now + ARGV[5])
local outcomes, times = {}, {}

local function sweep(bucket)
  local all = call('HGETALL', bucket)
  for at = 1, #all, 2 do
    if struct.unpack('<d', all[at + 1], 17) < now - keepMs then call('HDEL', bucket, all[at]) end
  end
end

for item = 1, #records / 40 do
  local bucket, field, value = place(item)
  local looksOnly = byte(readOnly, item) == 1
  local outcome = 0
  if not looksOnly and call('HSETNX', bucket, field, value .. pending) == 1 then
    outcome = 1
    call('PEXPIRE', bucket, keepMs)
    if byte(field, 14) % ${SWEPT_ONE_IN} == 0 then sweep(bucket) end
  else
    local known = call('HGET', bucket, field)
    if known then
      local same = sub(known, 1, 8) == sub(value, 1, 8)
      outcome = same and 2 or 3
      if #known > 24 then
        if sub(known, 25, 32) == owner then
          outcome = outcome + ${FLAG.own}
        elseif tonumber(sub(known, 33, 45)) > now then
          outcome = outcome + ${FLAG.pending}
        elseif looksOnly then
          outcome = 0
        elseif same then
          outcome = 1 + ${FLAG.takenOver}
          call('HSET', bucket, field, sub(known, 1, 24) .. pending)
          call('PEXPIRE', bucket, keepMs)
        end
      end
      if same and outcome > 0 then times[#times + 1] = sub(known, 9, 24) end
    end
  end
  outcomes[item] = string.char(outcome)
end
return {table.concat(outcomes), table.concat(times)}
`;

/** As above without the rest. Answers a byte per record: 1 where another owner has it. */
export const CONFIRM = `${HEAD}
local lost = {}
for item = 1, #records / 40 do
  local bucket, field, value = place(item)
  local known = call('HGET', bucket, field)
  local mine = not known or sub(known, 25, 32) == owner
  if mine then call('HSET', bucket, field, known and sub(known, 1, 24) or value) end
  lost[item] = mine and '\\0' or '\\1'
end
return table.concat(lost)
`;

/** ARGV[4]: a byte per record, 1 where it was taken over and may stand on the log: that is never freed. */
export const RELEASE = `${HEAD}
for item = 1, #records / 40 do
  local bucket, field = place(item)
  local known = call('HGET', bucket, field)
  if known and sub(known, 25, 32) == owner then
    if byte(ARGV[4], item) == 1 then
      call('HSET', bucket, field, sub(known, 1, 32) .. '0000000000000')
    else
      call('HDEL', bucket, field)
    end
  end
end
return 1
`;
