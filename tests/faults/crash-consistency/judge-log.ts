import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { openKeyTable } from '../../../infra/key-table/open-key-table.ts';
import type { EventLogReader, LogFrame } from '../../../infra/ports/event-log.ts';
import { OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import { openSegmentLogReader } from '../../../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../../../infra/segment-log/writer.ts';
import { decodeFrame } from '../../../schemas/stored/frame.ts';
import { RECORD_BYTES } from '../../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../support/once-keys-are-read.ts';
import type { KEY_SIZES } from './key-sizes.ts';
import { eventIds, type RecordedFrame, type RecordedLog } from './recorded-log.ts';

export interface Crash {
  /** Holds log/ and keys/ as the power cut left them. */
  folder: string;
  time: number;
  recorded: RecordedLog;
  identityCheck: Uint8Array;
  /** What the recorded process had. */
  keySizes: Partial<typeof KEY_SIZES>;
}

const log = pino({ level: 'silent' });
const READ_BYTES = 8 * 1024 * 1024;

/**
 * Opens log and keys as a start does, and compares them with what had been promised by the time of the cut:
 * every breach as a sentence.
 */
export async function judgeLog(crash: Crash): Promise<string[]> {
  const { folder, identityCheck } = crash;
  const directory = join(folder, 'log');
  try {
    const writer = await openSegmentLogWriter({ directory, identityCheck, log });
    const reader = await openSegmentLogReader({ directory });
    try {
      const { start } = writer.extent();
      const frames = await readAll(reader, start);
      const left = { start, frames, givenUp: givenUpBefore(start, crash) };
      return [
        ...eventFaults(crash, left),
        ...frameFaults(crash, left),
        ...(await keyFaults(crash, reader, left)),
      ];
    } finally {
      await reader.close();
      await writer.close();
    }
  } catch (error) {
    return [`does not open: ${error instanceof Error ? error.message : String(error)}`];
  }
}

interface Left {
  /** Where the log begins. */
  start: number;
  frames: LogFrame[];
  /** What preceded it and was given up by the time of the cut, each in its last state. */
  givenUp: RecordedFrame[];
}

function givenUpBefore(start: number, { recorded, time }: Crash): RecordedFrame[] {
  const lost = recorded.frames.filter(({ position, givenUp }) => position < start && givenUp <= time);
  return [...new Map(lost.map((frame) => [frame.position, frame])).values()];
}

async function readAll(reader: EventLogReader, start: number): Promise<LogFrame[]> {
  const all: LogFrame[] = [];
  for (;;) {
    const frames = await reader.read(0, all.at(-1)?.next ?? start, READ_BYTES);
    if (frames.length === 0) return all;
    all.push(...frames);
  }
}

/** What was acknowledged is there or was given up, and nothing twice. */
function eventFaults({ recorded, time }: Crash, { frames, givenUp }: Left): string[] {
  const ids = [...givenUp.flatMap((frame) => frame.ids), ...frames.flatMap(({ bytes }) => eventIds(bytes))];
  const found = new Set(ids);
  const acknowledged = recorded.responses
    .filter((response) => response.time <= time)
    .flatMap((response) => response.ids);
  const lost = [...new Set(acknowledged)].filter((id) => !found.has(id));
  return [
    ...(lost.length > 0 ? [`${lost.length} acknowledged events are lost, ${lost[0]} the first`] : []),
    ...(found.size < ids.length ? [`${ids.length - found.size} events are on the log twice`] : []),
  ];
}

/** Up to the end announced to a reader, the log has the same frames as then. */
function frameFaults({ recorded, time }: Crash, { start, frames }: Left): string[] {
  const announced = recorded.published.filter((one) => one.time <= time).map(({ end }) => end);
  const readable = Math.max(0, ...announced);
  const now = new Map(frames.map(({ position, bytes }) => [position, bytes]));
  const changed = recorded.frames.filter(({ position, bytes }) => {
    if (position < start || position + bytes.length > readable) return false;
    return !now.get(position)?.equals(bytes);
  });
  if (changed.length === 0) return [];
  return [
    `${changed.length} frames that were read before are others now, at ${changed[0]?.position} the first`,
  ];
}

/** The keys know every event that is or was on the log as a duplicate, and no other. */
async function keyFaults(
  { folder, identityCheck, keySizes }: Crash,
  logReader: EventLogReader,
  { frames, givenUp }: Left,
): Promise<string[]> {
  const directory = join(folder, 'keys');
  const keys = await openKeyTable({
    ...keySizes,
    directory,
    identityCheck,
    logReader,
    earlierRecords: noRecords,
    log,
  });
  try {
    const records = Buffer.concat([...givenUp, ...frames].map(({ bytes }) => decodeFrame(bytes).records));
    const count = records.length / RECORD_BYTES;
    const words = new Uint32Array(records.length / 4);
    new Uint8Array(words.buffer).set(records);
    const outcomes = new Uint8Array(count);
    const readOnly = new Uint8Array(count).fill(1);
    await onceKeysAreRead(() => keys.claim({ count, records: words, readOnly, outcomes }));
    const unknown = outcomes.filter((outcome) => outcome !== OUTCOME.duplicate).length;
    return [
      ...(unknown > 0 ? [`the keys do not know ${unknown} events`] : []),
      ...(keys.keyCount === count ? [] : [`${keys.keyCount} keys for ${count} events`]),
    ];
  } finally {
    await keys.close();
  }
}

/** Nothing is given up that the keys do not have: a request for it is a loss. */
async function* noRecords(before: number): AsyncGenerator<Uint8Array> {
  yield* [];
  throw new Error(`records from before position ${before} are requested`);
}

/** Of the log that a recording was made of. */
export function identityCheckOf(dataDir: string): Uint8Array {
  const { identityCheck } = JSON.parse(readFileSync(join(dataDir, 'log', 'log.json'), 'utf8')) as {
    identityCheck: string;
  };
  return Buffer.from(identityCheck, 'hex');
}
