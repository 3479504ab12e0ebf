import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { errorBody, sendJson, startBatchServer } from '../../sdk/node/src/meter/batch-server-under-test.ts';
import { createMeter } from '../../sdk/node/src/meter/meter.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const MIB = 1024 * 1024;
/** Of one event: 83 fill a segment, so that the first one on the full disk needs another. */
const NOTE_CHARS = 100_000;
const FILL = 83;
const MORE = 20;

/** Red when a write that fails half-way leaves its bytes, or throws. */
it('a spool whose disk is full goes on in memory, later on the disk again, and loses nothing', async () => {
  const disk = mountSmallDisk(32 * MIB);
  onTestFinished(() => disk.remove());
  const server = await startBatchServer();
  server.always(({ response }) => {
    sendJson(response, 503, errorBody('overloaded'));
    return true;
  });
  const codes = new Set<string>();
  const meter = createMeter({
    url: server.url,
    apiKey: 'k',
    spool: openSpool({ folder: `${disk.path}/spool`, fsync: 'each' }),
    retry: { firstMs: 5, lastMs: 50 },
    onError: ({ code }) => void codes.add(code),
  });
  onTestFinished(async () => void (await meter.close({ timeoutMs: 0 })));
  let tracked = 0;
  const track = (count: number): void => {
    for (const end = tracked + count; tracked < end; tracked++) {
      const properties = { note: 'x'.repeat(NOTE_CHARS) };
      const event = { customerId: 'a', meterId: 'm', value: 1, idempotencyKey: `k-${tracked}`, properties };
      expect(meter.track(event)).toBe(true);
    }
  };
  track(FILL);
  disk.fill(0);
  track(MORE);
  expect(meter.stats()).toMatchObject({ mode: 'memory', waiting: FILL + MORE, dropped: 0 });
  expect(codes).toContain('spool_unusable');
  disk.clear();
  vi.useFakeTimers({ now: Date.now() + 11_000, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  track(MORE);
  expect(meter.stats()).toMatchObject({ mode: 'spool', waiting: FILL + 2 * MORE });
  vi.useRealTimers();
  server.always(() => false);
  expect(await meter.flush()).toEqual({ sent: FILL + 2 * MORE, rejected: 0, waiting: 0 });
  expect(new Set(server.created).size).toBe(FILL + 2 * MORE);
  expect(meter.stats().damagedBytes).toBe(0);
  await meter.close();
  expect(readdirSync(`${disk.path}/spool`)).toEqual([]);
});

/** Red when an error of the file system reaches the caller, or one of the policies is the other. */
it.each([
  ['memory', true],
  ['drop', false],
] as const)(
  'a spool whose disk is read-only, and full when it is not any more: %s',
  async (policy, isKept) => {
    const disk = mountSmallDisk(16 * MIB);
    onTestFinished(() => disk.remove());
    const remount = (as: 'ro' | 'rw') => execFileSync('mount', ['-o', `remount,${as}`, disk.path]);
    remount('ro');
    const server = await startBatchServer();
    const codes: string[] = [];
    const meter = createMeter({
      url: server.url,
      apiKey: 'k',
      spool: openSpool({ folder: `${disk.path}/spool` }),
      onSpoolError: policy,
      lingerMs: 60_000,
      onError: ({ code }) => void codes.push(code),
    });
    onTestFinished(async () => void (await meter.close({ timeoutMs: 0 })));
    const track = (idempotencyKey: string): boolean => {
      const properties = { note: 'x'.repeat(NOTE_CHARS) };
      return meter.track({ customerId: 'a', meterId: 'm', value: 1, idempotencyKey, properties });
    };
    onTestFinished(() => void vi.useRealTimers());
    const later = () => vi.useFakeTimers({ now: Date.now() + 11_000, toFake: ['Date'] });
    expect(track('read-only')).toBe(isKept);
    remount('rw');
    disk.fill(0);
    later();
    expect(track('full')).toBe(isKept);
    expect(meter.stats()).toMatchObject({ mode: 'memory', dropped: isKept ? 0 : 2 });
    disk.clear();
    later();
    expect(track('well')).toBe(true);
    expect(meter.stats().mode).toBe('spool');
    vi.useRealTimers();
    const kept = isKept ? ['read-only', 'full', 'well'] : ['well'];
    expect(await meter.flush()).toEqual({ sent: kept.length, rejected: 0, waiting: 0 });
    expect([...server.created].sort()).toEqual(kept.sort());
    expect(codes).toContain('spool_unusable');
  },
);
