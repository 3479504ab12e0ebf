import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { seenInTime } from '../../../../tests/support/in-time.ts';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { errorBody, sendJson, startBatchServer } from '../meter/batch-server-under-test.ts';
import type { MeterOptions } from '../meter/meter.ts';
import { event, IN_TIME, keyed, openMeter } from '../meter/meter-under-test.ts';
import { ulid } from '../meter/ulid.ts';
import { openSpool, type SpoolOptions } from './spool.ts';
import { endOwner, foldersIn, onlyFolder, spoil } from './spool-folder-under-test.ts';

const NOWHERE = 'http://127.0.0.1:1';

function openSpooled(url: string, options: SpoolOptions, more: Partial<MeterOptions> = {}) {
  return openMeter({ url, spool: openSpool(options), ...more });
}

/** As of a process that tracked these and ended, without a server. Returns its folder. */
function leftBehind(root: string, count: number): string {
  const before = new Set(foldersIn(root));
  const { meter } = openSpooled(NOWHERE, { folder: root });
  for (const one of keyed(count)) expect(meter.track(one)).toBe(true);
  const made = foldersIn(root).filter((name) => name.startsWith('p-') && !before.has(name));
  const folder = join(root, made[0] ?? '');
  endOwner(folder);
  return folder;
}

describe('a spool', () => {
  it('has an event in a file before track returns, and nothing is left when all are settled', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const { meter } = openSpooled(server.url, { folder: root });
    meter.track(event({ idempotencyKey: 'k-é' }));
    const folder = onlyFolder(root);
    expect(readdirSync(folder).sort()).toEqual(['00000001.seg', 'cursor', 'owner.json']);
    expect(meter.stats()).toMatchObject({ mode: 'spool', waiting: 1 });
    expect(meter.stats().spoolBytes).toBeGreaterThan(80);
    expect(await meter.flush()).toEqual({ sent: 1, rejected: 0, waiting: 0 });
    expect(server.created).toEqual(['k-é']);
    expect(meter.stats()).toMatchObject({ spoolBytes: 0 });
    expect(await meter.close()).toEqual({ sent: 0, rejected: 0, waiting: 0 });
    expect(readdirSync(root)).toEqual([]);
  });

  it('is written in segments of 8 MiB, which are removed as they are settled', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const { meter } = openSpooled(server.url, { folder: root, fsync: 'none' });
    const properties = { note: 'x'.repeat(9_000) };
    for (const one of keyed(2_000)) meter.track({ ...one, properties });
    const folder = onlyFolder(root);
    expect(readdirSync(folder)).toContain('00000003.seg');
    expect(await meter.flush({ timeoutMs: 60_000 })).toMatchObject({ sent: 2_000, waiting: 0 });
    expect(new Set(server.created).size).toBe(2_000);
    const isRemoved = () => !readdirSync(folder).includes('00000002.seg') || undefined;
    await seenInTime(isRemoved, IN_TIME, 'the removal of the others');
    expect(readdirSync(folder).sort()).toEqual(['00000003.seg', 'cursor', 'owner.json']);
  });

  it('that waits at the close is drained by the next process at once', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const first = openSpooled(NOWHERE, { folder: root });
    for (const one of keyed(5)) first.meter.track(one);
    expect(await first.meter.close({ timeoutMs: 0 })).toEqual({ sent: 0, rejected: 0, waiting: 5 });
    const second = openSpooled(server.url, { folder: root });
    expect(await second.meter.flush()).toMatchObject({ sent: 5, waiting: 0 });
    expect([...server.created].sort()).toEqual(keyed(5).map((one) => one.idempotencyKey));
    await second.meter.close();
    expect(readdirSync(root)).toEqual([]);
  });

  it('of a process that ended is taken over, from where it was settled', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const dying = openSpooled(server.url, { folder: root });
    for (const one of keyed(3)) dying.meter.track(one);
    await dying.meter.flush();
    server.always(() => true);
    for (const one of keyed(8).slice(3)) dying.meter.track(one);
    await seenInTime(() => server.sizes.length === 2 || undefined, IN_TIME, 'a request without a response');
    endOwner(onlyFolder(root));
    server.always(() => false);
    const { meter } = openSpooled(server.url, { folder: root });
    expect(meter.stats().adoptedBytes).toBeGreaterThan(400);
    expect(await meter.flush()).toMatchObject({ sent: 5, waiting: 0 });
    expect(meter.stats()).toMatchObject({ adoptedBytes: 0, duplicates: 0 });
    await seenInTime(() => foldersIn(root).length === 1 || undefined, IN_TIME, 'its folder to be removed');
  });

  it('of a process that runs is left alone', async () => {
    const root = testFolder();
    const first = openSpooled(NOWHERE, { folder: root });
    const second = openSpooled(NOWHERE, { folder: root });
    first.meter.track(event());
    second.meter.track(event());
    expect([first.meter.stats().waiting, second.meter.stats().waiting]).toEqual([1, 1]);
    expect(foldersIn(root)).toHaveLength(2);
  });

  it('that cannot be read just now is whole, and read later', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    leftBehind(root, 4);
    const { meter, problems } = openSpooled(server.url, { folder: root });
    const adopted = foldersIn(root).find((name) => name.startsWith('a-')) ?? '';
    const file = join(root, adopted, '00000001.seg');
    renameSync(file, `${file}.aside`);
    // To open it fails, as without a file descriptor to spare.
    symlinkSync('00000001.seg', file);
    expect(await meter.flush({ timeoutMs: 50 })).toMatchObject({ sent: 0, waiting: expect.any(Number) });
    expect(meter.stats().waiting).toBeGreaterThan(0);
    expect(problems.map(({ code }) => code)).toEqual(['spool_unreadable']);
    renameSync(`${file}.aside`, file);
    expect(await meter.flush()).toMatchObject({ sent: 4, waiting: 0 });
    expect(meter.stats()).toMatchObject({ damagedBytes: 0 });
  });

  // Red when a file whose disk fails, which is tried again forever, holds up what other processes have left.
  it('whose disk fails for one folder holds up no other, nor its own new events', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    leftBehind(root, 7);
    const failing = join(root, `p-${ulid(0)}`);
    // Reading it fails each time, and not because it is gone.
    mkdirSync(join(failing, '00000001.seg'), { recursive: true });
    endOwner(failing);
    const { meter, problems } = openSpooled(server.url, { folder: root });
    meter.track(event({ idempotencyKey: 'new' }));
    await seenInTime(() => server.created.length === 8 || undefined, IN_TIME, 'what can be read');
    expect(meter.stats().waiting).toBeGreaterThan(0);
    expect(problems.map(({ code }) => code)).toEqual(['spool_unreadable']);
  });

  it('that was removed before it was read is reported', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    leftBehind(root, 4);
    const { meter, problems } = openSpooled(server.url, { folder: root });
    for (const name of foldersIn(root).filter((one) => one.startsWith('a-')))
      rmSync(join(root, name), { recursive: true });
    expect(await meter.flush()).toMatchObject({ sent: 0, waiting: 0 });
    expect(problems.map(({ code }) => code)).toEqual(['spool_missing']);
  });

  it('does not take the room of the events of this process', async () => {
    const root = testFolder();
    leftBehind(root, 30);
    const { meter } = openSpooled(NOWHERE, { folder: root, bytesMax: 2_000 });
    expect(meter.stats().adoptedBytes).toBeGreaterThan(2_000);
    expect(meter.track(event())).toBe(true);
  });

  it('without its cursor is sent again from the start, which the server counts once', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const dying = openSpooled(server.url, { folder: root });
    for (const one of keyed(3)) dying.meter.track(one);
    await dying.meter.flush();
    const folder = onlyFolder(root);
    writeFileSync(join(folder, 'cursor'), '');
    endOwner(folder);
    const { meter } = openSpooled(server.url, { folder: root });
    expect(await meter.flush()).toMatchObject({ sent: 3 });
    expect(meter.stats().duplicates).toBe(3);
    expect(server.created).toHaveLength(3);
  });

  it('continues in a new folder when another process took its own over, and loses nothing', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const { meter } = openSpooled(server.url, { folder: root });
    server.always(({ response }) => {
      sendJson(response, 503, errorBody('overloaded'));
      return true;
    });
    for (const one of keyed(3)) meter.track(one);
    renameSync(onlyFolder(root), join(testFolder(), 'taken'));
    vi.useFakeTimers({ now: Date.now() + 31_000, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    meter.track(event({ idempotencyKey: 'after' }));
    vi.useRealTimers();
    expect(foldersIn(root)).toHaveLength(1);
    server.always(() => false);
    expect(await meter.flush()).toMatchObject({ sent: 4, waiting: 0 });
    expect([...server.created].sort()).toEqual(['after', 'k-0', 'k-1', 'k-2']);
  });
});

describe('damage in a spool', () => {
  it.each<[what: string, change: (bytes: Buffer) => Buffer, sent: number]>([
    ['a record that was cut off', (bytes) => bytes.subarray(0, -3), 3],
    ['bytes of zero, as after a power cut', (bytes) => Buffer.concat([bytes, Buffer.alloc(4_096)]), 4],
    [
      'a bit',
      (bytes) => bytes.fill(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9, bytes.length - 8),
      3,
    ],
    ['another format', (bytes) => bytes.fill('NOTSPOOL', 0, 8), 0],
  ])('%s costs what is behind it, is counted and kept', async (_, change, sent) => {
    const server = await startBatchServer();
    const root = testFolder();
    const folder = leftBehind(root, 4);
    spoil(join(folder, '00000001.seg'), change);
    const { meter, problems } = openSpooled(server.url, { folder: root });
    expect(await meter.flush()).toMatchObject({ sent, waiting: 0 });
    expect(server.created).toEqual(keyed(sent).map((one) => one.idempotencyKey));
    expect(meter.stats().damagedBytes).toBeGreaterThan(0);
    expect(problems.map(({ code }) => code)).toEqual(['spool_damaged']);
    const kept = () => readdirSync(root).filter((name) => name.endsWith('.damaged'));
    await seenInTime(() => kept().length === 1 || undefined, IN_TIME, 'the file to be kept');
  });

  it('is kept four times', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    const folders = [1, 2, 3, 4, 5, 6].map(() => leftBehind(testFolder(), 1));
    folders.forEach((folder, at) => {
      spoil(join(folder, '00000001.seg'), (bytes) => bytes.subarray(0, -1));
      renameSync(folder, join(root, `p-${ulid(at)}`));
    });
    const { meter } = openSpooled(server.url, { folder: root });
    await meter.close();
    expect(meter.stats().damagedBytes).toBeGreaterThan(6 * 80);
    expect(readdirSync(root).filter((name) => name.endsWith('.damaged'))).toHaveLength(4);
  });
});

describe('a spool without room', () => {
  it('drops the newest events, counts them, and takes more when some are settled', async () => {
    const server = await startBatchServer();
    const root = testFolder();
    server.always(({ response }) => {
      sendJson(response, 503, errorBody('overloaded'));
      return true;
    });
    const { meter, problems } = openSpooled(server.url, { folder: root, bytesMax: 2_000 });
    const taken = keyed(30).filter((one) => meter.track(one)).length;
    expect(taken).toBeGreaterThan(10);
    expect(meter.stats()).toMatchObject({ tracked: taken, dropped: 30 - taken, waiting: taken });
    const waited = meter.trackWhenRoom(event({ idempotencyKey: 'waited' }));
    server.always(() => false);
    expect(await waited).toBe(true);
    await meter.flush();
    expect(server.created).toHaveLength(taken + 1);
    expect(problems.map(({ code }) => code)).toContain('buffer_full');
  });

  it.each([
    ['memory', true],
    ['drop', false],
  ] as const)('that cannot be made: %s', async (onSpoolError, isTaken) => {
    const server = await startBatchServer();
    const folder = join(testFolder(), 'a-file');
    writeFileSync(folder, '');
    const { meter, problems } = openSpooled(server.url, { folder }, { onSpoolError });
    expect(meter.track(event())).toBe(isTaken);
    expect(meter.stats()).toMatchObject({ mode: 'memory', dropped: isTaken ? 0 : 1 });
    expect(await meter.flush()).toMatchObject({ sent: isTaken ? 1 : 0, waiting: 0 });
    expect(problems.map(({ code }) => code)).toContain('spool_unusable');
  });

  // Red when it stays in memory: a crash would lose it, though the spool is well.
  it('is tried again, and what was in memory meanwhile goes into it', async () => {
    const server = await startBatchServer();
    const folder = join(testFolder(), 'later');
    writeFileSync(folder, '');
    const { meter } = openSpooled(server.url, { folder: join(folder, 'spool') }, { requestsMax: 1 });
    meter.track(event({ idempotencyKey: 'in memory' }));
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder);
    vi.useFakeTimers({ now: Date.now() + 11_000, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    meter.track(event({ idempotencyKey: 'in the spool' }));
    expect(meter.stats().mode).toBe('spool');
    vi.useRealTimers();
    const segment = join(onlyFolder(join(folder, 'spool')), '00000001.seg');
    expect(readFileSync(segment, 'latin1')).toContain('in memory');
    expect(existsSync(join(folder, 'spool'))).toBe(true);
    expect(await meter.flush()).toMatchObject({ sent: 2, waiting: 0 });
    expect(server.created.sort()).toEqual(['in memory', 'in the spool']);
  });
});
