import { randomFillSync } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { encodeFrame } from '../../schemas/stored/frame.ts';
import { RECORD_BYTES, RECORD_WORDS, setTimes } from '../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { IdempotencyStoreHarness } from '../ports/conformance/idempotency-session.ts';
import type { EventLogReader, EventLogWriter } from '../ports/event-log.ts';
import { type Claim, type ClaimBatch, OUTCOME } from '../ports/idempotency-store.ts';
import { openSegmentLogReader } from '../segment-log/reader.ts';
import { openSegmentLogWriter } from '../segment-log/writer.ts';
import type { KeyTable } from './key-table.ts';
import { type KeyTableOptions, openKeyTable } from './open-key-table.ts';

const identityCheck = Buffer.alloc(16, 1);
/** Small, so that a test of a few thousand keys seals and merges some. */
const GENERATION_KEYS = 128;

/**
 * A key table over a real log, in a folder that moves with each kill: what was open continues in the old one.
 */
export interface TestKeys extends IdempotencyStoreHarness {
  /** What an opening is given of keys that the log no longer holds; nothing, at first. */
  earlier: KeyTableOptions['earlierRecords'];
  /** Of each opening but the first. */
  generationKeys: number;
  /** The same. */
  sealedAfterMs: number | undefined;
  store(): KeyTable;
  /** Where log/ and keys/ are now. */
  folder(): string;
  /** Drops the store as it is, and opens nothing. */
  kill(): Promise<void>;
  /** Opens the log and the keys as they are found. */
  open(): Promise<void>;
  /** Claims records whose keys are new, as soon as there is room for them, and commits them as one frame. */
  commit(records: Uint32Array): Promise<void>;
  /** What the keys are opened with, for a test that opens them otherwise. Ends the store that is open. */
  openingOf(): Promise<KeyTableOptions>;
}

interface OpenStores {
  writer: EventLogWriter;
  reader: EventLogReader;
  keys: KeyTable;
}

export async function testKeys(generationKeys = GENERATION_KEYS): Promise<TestKeys> {
  const root = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  let life = 0;
  let stores: OpenStores | undefined = await openStores(join(root, '0'), { generationKeys });
  const folder = () => join(root, String(life));

  async function close(): Promise<void> {
    await stores?.keys.close();
    await stores?.reader.close();
    await stores?.writer.close();
    stores = undefined;
  }

  async function kill(): Promise<void> {
    const before = folder();
    life++;
    // What a kill leaves is what the files hold now; the stores close behind our back, in the old folder.
    copyFolder(before, folder());
    await close();
    rmSync(before, { recursive: true });
  }

  async function open(): Promise<void> {
    stores = await openStores(folder(), keys);
  }

  const keys: TestKeys = {
    earlier: undefined,
    generationKeys,
    sealedAfterMs: undefined,
    folder,
    kill,
    async openingOf() {
      if (!stores) throw new Error('The stores are closed.');
      await stores.keys.close();
      return openingIn(folder(), stores.reader, keys);
    },
    open,
    async commit(records) {
      const claim = await claimNew(keys.store(), records);
      await keys.store().confirm([claim], await keys.write(new Uint8Array(records.buffer)));
    },
    store() {
      if (!stores) throw new Error('The stores are closed.');
      return stores.keys;
    },
    async write(records) {
      const outcome = await stores?.writer.append(frameOf(stores.writer.logId, records));
      if (outcome?.status !== 'durable') throw new Error('The frame was not written.');
      return outcome.end;
    },
    async restart(how) {
      await (how === 'clean' ? close() : kill());
      await open();
    },
    async close() {
      await close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return keys;
}

/** Again when a file went meanwhile, as one does that was merged. */
function copyFolder(from: string, to: string): void {
  for (;;) {
    try {
      cpSync(from, to, { recursive: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      rmSync(to, { recursive: true, force: true });
    }
  }
}

/** Waits while too many keys wait to be sealed: generations are small here. */
async function claimNew(store: KeyTable, records: Uint32Array): Promise<Claim> {
  for (;;) {
    try {
      const batch = batchOf(records);
      const claim = await onceKeysAreRead(() => store.claim(batch));
      if (claim.created !== batch.count) throw new Error(`${claim.created} of ${batch.count} are new.`);
      return claim;
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      await delay(1);
    }
  }
}

/** Whole records, as a request brings them. */
export function batchOf(records: Uint32Array): ClaimBatch {
  const count = records.length / RECORD_WORDS;
  return { count, records, readOnly: new Uint8Array(count), outcomes: new Uint8Array(count) };
}

/** Repeats come with other times, and get those of the original. */
export async function expectAllKnown(keys: TestKeys, original: Uint32Array): Promise<void> {
  const batch = batchOf(original.slice());
  for (let at = 0; at < original.length; at += RECORD_WORDS) batch.records.fill(1, at + 6, at + RECORD_WORDS);
  // One that is not known is not claimed either.
  batch.readOnly.fill(1);
  expect(await onceKeysAreRead(() => keys.store().claim(batch))).toMatchObject({ created: 0 });
  expect(batch.outcomes.every((outcome) => outcome === OUTCOME.duplicate)).toBe(true);
  expect(Buffer.from(batch.records.buffer).equals(Buffer.from(original.buffer))).toBe(true);
}

/** As the product has them: times are whole milliseconds. */
export function randomRecords(count: number): Uint32Array {
  const records = randomFillSync(new Uint32Array(count * RECORD_WORDS));
  const times = new Float64Array(records.buffer);
  for (let nth = 0; nth < count; nth++) setTimes(times, nth, 1.7e12 + nth, 1.7e12 - nth);
  return records;
}

/** Closed with the running test. */
export async function keysOfThisTest(generationKeys?: number): Promise<TestKeys> {
  const keys = await testKeys(generationKeys);
  onTestFinished(() => keys.close());
  return keys;
}

type Opening = Partial<Pick<TestKeys, 'earlier' | 'generationKeys' | 'sealedAfterMs'>>;

async function openStores(folder: string, opening: Opening): Promise<OpenStores> {
  const directory = join(folder, 'log');
  const writer = await openSegmentLogWriter({
    directory,
    identityCheck,
    segmentBytesMax: 10_000,
    log: SILENT,
  });
  const reader = await openSegmentLogReader({ directory });
  try {
    const keys = await openKeyTable(openingIn(folder, reader, opening));
    return { writer, reader, keys };
  } catch (error) {
    await reader.close();
    await writer.close();
    throw error;
  }
}

function openingIn(folder: string, logReader: EventLogReader, opening: Opening): KeyTableOptions {
  const { earlier, generationKeys = GENERATION_KEYS, sealedAfterMs } = opening;
  const given = {
    ...(earlier && { earlierRecords: earlier }),
    ...(sealedAfterMs !== undefined && { sealedAfterMs }),
  };
  return {
    directory: join(folder, 'keys'),
    identityCheck,
    logReader,
    log: SILENT,
    generationKeys,
    ...given,
  };
}

function frameOf(logId: Uint8Array, records: Uint8Array): Uint8Array[] {
  const eventCount = records.length / RECORD_BYTES;
  return encodeFrame({
    logId,
    committedAtMs: 1,
    eventCount,
    touched: [],
    records: [records],
    numbers: new Uint16Array(eventCount),
    recheck: [],
    lines: [],
  });
}
