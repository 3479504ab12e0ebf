import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { startBatchServer } from '../meter/batch-server-under-test.ts';
import { openMeter } from '../meter/meter-under-test.ts';
import { encodeRecord, SEGMENT_HEAD } from './record.ts';
import { openSpool } from './spool.ts';

/** What a process of another client left behind. The tests of every client read it. */
const VERSION_1 = 'tests/clients/fixtures/spool-v1';

async function drain(root: string) {
  const server = await startBatchServer();
  const { meter } = openMeter({ url: server.url, spool: openSpool({ folder: root }) });
  const flushed = await meter.flush();
  const { damagedBytes } = meter.stats();
  await meter.close();
  return { flushed, created: server.created, damagedBytes };
}

it('a spool of version 1 is read as every client writes it', async () => {
  const expected = JSON.parse(readFileSync(join(VERSION_1, 'expected.json'), 'utf8'));
  const root = testFolder();
  for (const name of readdirSync(VERSION_1).filter((one) => one.startsWith('p-'))) {
    cpSync(join(VERSION_1, name), join(root, name), { recursive: true });
  }
  const { flushed, created, damagedBytes } = await drain(root);
  expect(flushed).toEqual({ sent: expected.waiting.length, rejected: 0, waiting: 0 });
  expect(created).toEqual(expected.waiting);
  expect(damagedBytes).toBe(expected.damagedBytes);
  const kept = readdirSync(root).map((name) => name.replace(/^.*-/, ''));
  expect(kept.sort()).toEqual(['00000002.seg.damaged', '00000003.seg.damaged']);
});

// Its checksum, 0, is right: without a rule of its own it would be an event without any text.
it('a record without a payload ends the reading, and those behind it are counted as damage', async () => {
  const root = testFolder();
  const [folder = ''] = readdirSync(VERSION_1).filter((one) => one.startsWith('p-'));
  cpSync(join(VERSION_1, folder, 'owner.json'), join(root, folder, 'owner.json'));
  const record = (key: string) =>
    Buffer.from(
      encodeRecord(JSON.stringify({ idempotencyKey: key, customerId: 'c', meterId: 'm', value: 1 })),
    );
  const behind = Buffer.concat([Buffer.alloc(8), record('behind')]);
  writeFileSync(join(root, folder, '00000001.seg'), Buffer.concat([SEGMENT_HEAD, record('before'), behind]));
  const { created, damagedBytes } = await drain(root);
  expect(created).toEqual(['before']);
  expect(damagedBytes).toBe(behind.length);
});
