/**
 * A process for the power cuts: keeps a log of many small segments and its keys as a data plane does, prints
 * the ids of each frame once it is durable, and gives up the oldest segments that its keys do not need. Ends
 * by SIGKILL, once in a while within the making of a segment, or in order where `how` is `orderly`.
 * Arguments: data folder, life, frames, how, form of writing.
 */

import { readlinkSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open as openHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { pino } from 'pino';
import { MANIFEST } from '../../../infra/key-table/key-folder.ts';
import { openKeyTable } from '../../../infra/key-table/open-key-table.ts';
import { prepareDataDir } from '../../../infra/platform/data-dir.ts';
import { systemClock } from '../../../infra/ports/clock.ts';
import { type Claim, type ClaimBatch, OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import { openSegmentLogReader } from '../../../infra/segment-log/reader.ts';
import type { OpenFile } from '../../../infra/segment-log/segment-appender.ts';
import { type Form, openFileIn } from '../../../infra/segment-log/write-form-under-test.ts';
import { openSegmentLogWriter } from '../../../infra/segment-log/writer.ts';
import { trimLog } from '../../../ingest/embedded/trim-log.ts';
import { Transient } from '../../../schemas/failures.ts';
import { encodeFrame } from '../../../schemas/stored/frame.ts';
import { eventIdsOf, RECORD_BYTES } from '../../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../support/once-keys-are-read.ts';
import { createRandom } from '../../support/random.ts';
import { KEY_SIZES } from './key-sizes.ts';

const SEGMENT_BYTES_MAX = 20_000;
const EVENTS_MAX = 30;
const NO_ROOM_SHARE = 0.4;
const KILL_SHARE = 0.5;
const TRIM_SHARE = 0.3;
const TRIM_BYTES_MAX = 4 * SEGMENT_BYTES_MAX;
const HOUR_MS = 3_600_000;

const [root = '', life = '0', frames = '0', how = '', form = ''] = process.argv.slice(2);
const open = openFileIn(form as Form);
const paths = prepareDataDir(root);
const random = createRandom(Number(life) + 1);
const log = pino({ level: 'silent' });
const identityCheck = Buffer.alloc(16, 1);
let isOpen = false;
let framesLeft = Number(frames);

/**
 * Now and then there is no room for a new segment, and its file is taken back; in the second half of its life
 * it may end with the header of a new one, whose name is not durable yet.
 */
const openFile: OpenFile = async (path, flags, mode) => {
  const file = await open(path, flags, mode);
  if (!isOpen) return file;
  const isLate = framesLeft < Number(frames) / 2;
  if (how === 'kill' && isLate && random.chance(KILL_SHARE)) return Object.assign(file, killingWrite(file));
  if (!random.chance(NO_ROOM_SHARE)) return file;
  const writev = () => Promise.reject(Object.assign(new Error('no room'), { code: 'ENOSPC' }));
  return Object.assign(file, { writev });
};

function killingWrite(file: FileHandle): Pick<FileHandle, 'writev'> {
  const write = file.writev.bind(file);
  return {
    writev: async (pieces, at) => {
      await write(pieces, at);
      process.kill(process.pid, 'SIGKILL');
      return await new Promise(() => undefined);
    },
  };
}

/** In the second half of this life. */
async function killBetweenNameAndSync(): Promise<void> {
  const handle = await openHandle(paths.keys, 'r');
  const { sync } = handle;
  await handle.close();
  const manifest = () => statSync(join(paths.keys, MANIFEST), { throwIfNoEntry: false })?.ino;
  let known = manifest();
  Object.getPrototypeOf(handle).sync = async function (this: FileHandle) {
    const isOfKeys = readlinkSync(`/proc/self/fd/${this.fd}`) === paths.keys;
    if (isOfKeys && framesLeft < Number(frames) / 2 && manifest() !== known) {
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    }
    if (isOfKeys) known = manifest();
    await sync.call(this);
  };
}

if (how === 'renamed') await killBetweenNameAndSync();

const opening = { directory: paths.log, identityCheck, segmentBytesMax: SEGMENT_BYTES_MAX, log, openFile };
const writer = await openSegmentLogWriter(opening);
isOpen = true;
const logReader = await openSegmentLogReader({ directory: paths.log });
const earlierRecords = async function* () {};
const keys = await openKeyTable({
  ...KEY_SIZES,
  directory: paths.keys,
  identityCheck,
  logReader,
  earlierRecords,
  log,
});

// A start may give up at once what the keys cover.
await giveUp(writer.extent().end);
for (; framesLeft > 0; framesLeft--) {
  await writeFrame(1 + random.below(EVENTS_MAX));
  if (random.chance(TRIM_SHARE)) await giveUpSome();
}
if (how !== 'orderly') process.kill(process.pid, 'SIGKILL');
await keys.close();
await logReader.close();
await writer.close();

async function writeFrame(count: number): Promise<void> {
  const records = new Uint32Array((count * RECORD_BYTES) / 4).map(() => random.below(2 ** 32));
  const outcomes = new Uint8Array(count).fill(OUTCOME.absent);
  const claim = await claimWithRoom({ count, records, readOnly: new Uint8Array(count), outcomes });
  const bytes = new Uint8Array(records.buffer);
  const lines = `1,"","${'x'.repeat(160)}"\n`.repeat(count);
  const outcome = await writer.append(
    encodeFrame({
      logId: writer.logId,
      committedAtMs: 1,
      eventCount: count,
      touched: [],
      records: [bytes],
      numbers: new Uint16Array(count),
      recheck: [],
      lines: [Buffer.from(lines)],
    }),
  );
  if (outcome.status === 'no_space') return keys.release([claim]);
  await keys.confirm([claim], outcome.end);
  writeSync(1, `${eventIdsOf(bytes).join(' ')}\n`);
}

/** Generations are small: at times they come faster than they are sealed. */
async function claimWithRoom(batch: ClaimBatch): Promise<Claim> {
  for (;;) {
    try {
      return await onceKeysAreRead(() => keys.claim(batch));
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      await pass(1);
    }
  }
}

/** All that is not being written is old. A few segments at a time, so that it continues throughout. */
async function giveUpSome(): Promise<void> {
  await giveUp(writer.extent().start + random.below(TRIM_BYTES_MAX));
}

async function giveUp(keptFrom: number): Promise<void> {
  const clock = { ...systemClock, nowMs: () => Date.now() + HOUR_MS };
  await trimLog({ retention: writer, keys, raiseKeptFrom: async () => keptFrom, clock, log }, 0);
}
