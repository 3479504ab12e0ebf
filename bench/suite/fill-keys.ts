/**
 * Adds so many keys to the key table of an installation that is stopped: as many of its events over HTTP
 * would take an hour and a disk of log. Arguments: data folder, keys. Prints one line of JSON.
 */
import { randomFillSync } from 'node:crypto';
import { openKeyTable } from '../../infra/key-table/open-key-table.ts';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { readLogIdentity } from '../../infra/segment-log/log-identity.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { RECORD_BYTES, setTimes } from '../../schemas/stored/record.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { claimWithRoom } from './claim-with-room.ts';
import { rounded } from './paired.ts';

const BATCH = 500;

const [dataDir = '', countText] = process.argv.slice(2);
const count = Number(countText);
const { log, keys } = dataDirAt(dataDir);
const identity = readLogIdentity(log);
if (!identity) throw new Error(`${dataDir} has no log`);
const logReader = await openSegmentLogReader({ directory: log });
const { identityCheck } = identity;
const table = await openKeyTable({ directory: keys, identityCheck, logReader, log: SILENT });
// What the log holds is in the table: the keys that are added now lie behind it, at its end.
const end = await logReader.durableEnd(0);
const buffer = new ArrayBuffer(BATCH * RECORD_BYTES);
const batch = {
  count: BATCH,
  records: new Uint32Array(buffer),
  readOnly: new Uint8Array(BATCH),
  outcomes: new Uint8Array(BATCH),
};
const times = new Float64Array(buffer);
const before = process.cpuUsage();
for (let added = 0; added < count; added += BATCH) {
  randomFillSync(batch.records);
  const nowMs = Date.now();
  for (let at = 0; at < BATCH; at++) setTimes(times, at, nowMs, nowMs);
  const claim = await claimWithRoom(table, batch);
  if (claim.created !== BATCH) throw new Error(`${claim.created} of ${BATCH} keys were new`);
  await table.confirm([claim], end);
}
await table.close();
await logReader.close();
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ cpuMicrosPerKey: rounded((user + system) / count) })}\n`);
