import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { encodeFrame } from '../../schemas/stored/frame.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { IdempotencyStoreHarness } from '../ports/conformance/idempotency-session.ts';
import type { EventLogReader, EventLogWriter } from '../ports/event-log.ts';
import { openSegmentLogReader } from '../segment-log/reader.ts';
import { openSegmentLogWriter } from '../segment-log/writer.ts';
import type { KeyTable } from './key-table.ts';
import { type KeyTableOptions, openKeyTable } from './open-key-table.ts';

const identityCheck = Buffer.alloc(16, 1);

/**
 * A key table over a real log, in a folder that moves with each kill: what was open continues in the old one.
 */
export interface TestKeys extends IdempotencyStoreHarness {
  /** What an opening is given of keys that the log no longer holds; nothing, at first. */
  earlier: KeyTableOptions['earlierRecords'];
  store(): KeyTable;
  /** Where log/ and keys/ are now. */
  folder(): string;
  /** Drops the store as it is, and opens nothing. */
  kill(): Promise<void>;
  /** Opens the log and the keys as they are found. */
  open(): Promise<void>;
  /** What the keys are opened with, for a test that opens them otherwise. Ends the store that is open. */
  openingOf(): Promise<KeyTableOptions>;
}

interface OpenStores {
  writer: EventLogWriter;
  reader: EventLogReader;
  keys: KeyTable;
}

export async function testKeys(): Promise<TestKeys> {
  const root = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  let life = 0;
  let stores: OpenStores | undefined = await openStores(join(root, '0'));
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
    cpSync(before, folder(), { recursive: true });
    await close();
    rmSync(before, { recursive: true });
  }

  async function open(): Promise<void> {
    stores = await openStores(folder(), keys.earlier);
  }

  const keys: TestKeys = {
    earlier: undefined,
    folder,
    kill,
    async openingOf() {
      if (!stores) throw new Error('The stores are closed.');
      await stores.keys.close();
      return openingIn(folder(), stores.reader);
    },
    open,
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

/** Closed with the running test. */
export async function keysOfThisTest(): Promise<TestKeys> {
  const keys = await testKeys();
  onTestFinished(() => keys.close());
  return keys;
}

async function openStores(folder: string, earlier?: TestKeys['earlier']): Promise<OpenStores> {
  const directory = join(folder, 'log');
  const writer = await openSegmentLogWriter({
    directory,
    identityCheck,
    segmentBytesMax: 10_000,
    log: SILENT,
  });
  const reader = await openSegmentLogReader({ directory });
  try {
    const keys = await openKeyTable({
      ...openingIn(folder, reader),
      ...(earlier ? { earlierRecords: earlier } : {}),
    });
    return { writer, reader, keys };
  } catch (error) {
    await reader.close();
    await writer.close();
    throw error;
  }
}

function openingIn(folder: string, logReader: EventLogReader): KeyTableOptions {
  const directory = join(folder, 'keys');
  return { directory, identityCheck, logReader, log: SILENT };
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
