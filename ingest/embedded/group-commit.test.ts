import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CommitPart } from '../../infra/ports/engine.ts';
import type { AppendOutcome, EventLogWriter } from '../../infra/ports/event-log.ts';
import type { Claim, IdempotencyStore } from '../../infra/ports/idempotency-store.ts';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame, type Frame } from '../../schemas/stored/frame.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { createGroupCommit } from './group-commit.ts';

const clock = { nowMs: () => 1_000, passedMs: 0, monotonicMs: () => clock.passedMs };
const MIB = 1024 * 1024;
const DISK_DEAD = new Fatal('log_write_failed', 'the disk is dead');

/** A log whose appends end when the test says so; and a store that records its calls. */
function createBench() {
  const frames: Frame[] = [];
  const written: Uint8Array[][] = [];
  const journal: string[] = [];
  const pending: Array<{ resolve(outcome: AppendOutcome): void; reject(error: unknown): void }> = [];
  let flying = 0;
  const log: EventLogWriter = {
    logId: new Uint8Array(16),
    append: (pieces) => {
      expect(++flying).toBe(1);
      written.push(pieces);
      frames.push(decodeFrame(Buffer.concat(pieces)));
      return new Promise<AppendOutcome>((resolve, reject) => pending.push({ resolve, reject })).finally(
        () => flying--,
      );
    },
    close: async () => undefined,
  };
  const names = (claims: Claim[]) => claims.map((claim) => (claim as NamedClaim).name).join('');
  const store: IdempotencyStore = {
    claim: () => ({ created: 0, waits: false }),
    confirm: (claims, logEnd) => void journal.push(`confirm ${names(claims)} ${logEnd}`),
    release: (claims) => void journal.push(`release ${names(claims)}`),
    close: async () => undefined,
  };
  const commit = createGroupCommit({ log, store, clock });
  return {
    commit,
    frames,
    /** The memory that the log was given. */
    written,
    journal,
    store,
    async ending(outcome: AppendOutcome): Promise<void> {
      pending.shift()?.resolve(outcome);
      await turn();
    },
    pending,
  };
}

type Bench = ReturnType<typeof createBench>;
interface NamedClaim extends Claim {
  name: string;
}

const durable = (end: number): AppendOutcome => ({ status: 'durable', position: 0, end });

/** One event, or a replay that only waits; its line is its name. */
function part(name: string, eventCount = 1, lineBytes = 0): CommitPart {
  const claim: NamedClaim = { name, created: eventCount, waits: eventCount === 0 };
  return {
    claim,
    eventCount,
    records: new Uint8Array(eventCount * RECORD_BYTES),
    lines: Buffer.from(eventCount === 0 ? '' : `${name.padEnd(lineBytes, ' ')}\n`),
    numbers: new Uint16Array(eventCount),
    touched: eventCount === 0 ? [] : [{ pair: '"e","c","m"', occurredFromMs: 5, occurredToMs: 5 }],
  };
}

/** Commits and records the outcome, so that a test sees which response was sent when. */
function committing({ commit, journal }: Bench, one: CommitPart): Promise<void> {
  const { name } = one.claim as NamedClaim;
  return new Promise((resolve) => {
    const end = (how: string) => {
      journal.push(`${name} ${how}`);
      resolve();
    };
    commit.commit(one, { resolve: end, reject: (error) => end((error as Fatal).code) });
  });
}

function linesOf(frame: Frame | undefined): string[] {
  return frame?.lines.toString().split('\n').slice(0, -1) ?? [];
}

/** Red when a response is sent before the flush: promise 1. */
test('a part for whose copy there is no memory is rejected, and its claim is free at once', async () => {
  const bench = createBench();
  const lines = { length: Number.MAX_SAFE_INTEGER } as Buffer;
  const errors: unknown[] = [];
  bench.commit.commit(
    { ...part('a'), lines },
    { resolve: () => errors.push('durable'), reject: (error) => errors.push(error) },
  );
  expect(errors).toEqual([expect.any(RangeError)]);
  expect(bench.journal).toEqual(['release a']);
  const next = committing(bench, part('b'));
  await turn();
  await bench.ending(durable(10));
  await next;
  expect(bench.journal).toEqual(['release a', 'confirm b 10', 'b durable']);
});

test('no response is sent before its frame is durable and its claims are confirmed', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a')), committing(bench, part('b'))];
  await turn();
  await turn();
  expect(bench.journal).toEqual([]);
  await bench.ending(durable(64));
  await Promise.all(all);
  expect(bench.journal).toEqual(['confirm ab 64', 'a durable', 'b durable']);
});

// Red when the memory of a frame is used again while the system still writes it.
test('what is written stays as it is until its outcome is known, and after a failure for good', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a'))];
  const lastWritten = () => linesOf(decodeFrame(Buffer.concat(bench.written.at(-1) ?? [])));
  for (const [name, behind] of ['ab', 'bc', 'cd', 'de']) {
    await turn();
    await turn();
    expect(lastWritten()).toEqual([name]);
    all.push(committing(bench, part(behind as string)));
    expect(lastWritten()).toEqual([name]);
    if (name !== 'd') await bench.ending(durable(1));
  }
  bench.pending.shift()?.reject(DISK_DEAD);
  await Promise.all(all);
  await committing(bench, part('f'));
  expect(lastWritten()).toEqual(['d']);
});

/** Red when a frame is begun while another one is in flight, or parts change their order. */
test('one frame is in flight while the next is batched, in the order of the claims', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a'))];
  await turn();
  for (const name of ['b', 'c', 'd']) {
    all.push(committing(bench, part(name)));
    await turn();
  }
  expect(bench.frames).toHaveLength(1);
  await bench.ending(durable(1));
  expect(bench.frames.map(linesOf)).toEqual([['a'], ['b', 'c', 'd']]);
  all.push(committing(bench, part('e')));
  await bench.ending(durable(2));
  await bench.ending(durable(3));
  await Promise.all(all);
  expect(bench.frames.map(linesOf)).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  expect(bench.journal.filter((entry) => entry.startsWith('confirm'))).toEqual([
    'confirm a 1',
    'confirm bcd 2',
    'confirm e 3',
  ]);
});

test('a frame names each touched customer and meter once, with the whole span', async () => {
  const bench = createBench();
  // biome-ignore format: one row
  const spans = [[7, 9], [3, 4], [8, 20]] as const;
  const all = spans.map(([occurredFromMs, occurredToMs], at) => {
    const touched = [{ pair: '"e","c","m"', occurredFromMs, occurredToMs }];
    return committing(bench, { ...part(String(at)), touched });
  });
  await turn();
  expect(bench.frames[0]).toMatchObject({
    eventCount: 3,
    committedAtMs: 1_000,
    touched: [{ environment: 'e', customerId: 'c', meterKey: 'm', occurredFromMs: 3, occurredToMs: 20 }],
  });
  await bench.ending(durable(1));
  await Promise.all(all);
});

/** Red when a replay does not wait for the flush that carries its original. */
test('a replay waits for its original, and writes no frame of its own', async () => {
  const bench = createBench();
  const original = committing(bench, part('a'));
  await turn();
  const replay = committing(bench, part('replay', 0));
  await turn();
  expect(bench.journal).toEqual([]);
  await bench.ending(durable(1));
  await Promise.all([original, replay]);
  expect(bench.frames).toHaveLength(1);
  expect(bench.journal).toEqual(['confirm a 1', 'a durable', 'replay durable']);
});

test('a frame ends at 4 MiB, and a part is never divided', async () => {
  const bench = createBench();
  const all = ['a', 'b', 'c'].map((name) => committing(bench, part(name, 1, 3 * MIB)));
  all.push(committing(bench, part('d', 1, 5 * MIB)), committing(bench, part('e')));
  await turn();
  for (let position = 1; position <= 5; position++) await bench.ending(durable(position));
  await Promise.all(all);
  expect(bench.frames.map((frame) => linesOf(frame).map((line) => line.trim()))).toEqual([
    ['a'],
    ['b'],
    ['c'],
    ['d'],
    ['e'],
  ]);
});

/**
 * Red when the parts behind a frame that found no space keep their claims: a replay would get a false result.
 */
test('no space gives back the frame and all parts that wait behind it; later parts succeed', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a'))];
  await turn();
  all.push(committing(bench, part('b')), committing(bench, part('replay of a', 0)));
  await bench.ending({ status: 'no_space' });
  await Promise.all(all);
  expect(bench.journal).toEqual([
    'release abreplay of a',
    'a no_space',
    'b no_space',
    'replay of a no_space',
  ]);
  const later = committing(bench, part('c'));
  await turn();
  await bench.ending(durable(9));
  await later;
  expect(bench.journal.slice(4)).toEqual(['confirm c 9', 'c durable']);
  await bench.commit.drain();
});

/** Red when a failed log leaves a request without a response, or is tried again. */
test('a log that fails rejects all that wait, all that come, and `failed`; no claim is touched', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a'))];
  await turn();
  all.push(committing(bench, part('b')));
  bench.pending.shift()?.reject(DISK_DEAD);
  await Promise.all(all);
  await expect(bench.commit.failed).rejects.toBe(DISK_DEAD);
  await committing(bench, part('c'));
  expect(bench.journal).toEqual(['a log_write_failed', 'b log_write_failed', 'c log_write_failed']);
  expect(bench.frames).toHaveLength(1);
  await bench.commit.drain(); // red when it spins forever on a run that is over
});

test('a store that fails to confirm rejects its frame as well', async () => {
  const bench = createBench();
  bench.store.confirm = () => {
    throw new Fatal('record_file_damaged', 'the keys are lost');
  };
  const all = [committing(bench, part('a'))];
  await turn();
  await bench.ending(durable(1));
  await Promise.all(all);
  expect(bench.journal).toEqual(['a record_file_damaged']);
  await expect(bench.commit.failed).rejects.toMatchObject({ code: 'record_file_damaged' });
});

test('drain waits for what is in flight and for the parts that wait', async () => {
  const bench = createBench();
  const all = [committing(bench, part('a'))];
  await turn();
  all.push(committing(bench, part('b')));
  const drained = bench.commit.drain().then(() => bench.journal.push('drained'));
  await bench.ending(durable(1));
  expect(bench.journal).not.toContain('drained');
  await bench.ending(durable(2));
  await Promise.all([...all, drained]);
  expect(bench.journal.at(-1)).toBe('drained');
});

/** Red when a disk that hangs looks like one without work: readyz would stay green. */
test('the age of the frame that is being written is reported', async () => {
  const bench = createBench();
  expect(bench.commit.writingMs()).toBe(0);
  void committing(bench, part('a'));
  await turn();
  clock.passedMs += 7_000;
  expect(bench.commit.writingMs()).toBe(7_000);
  await bench.ending(durable(1));
  expect(bench.commit.writingMs()).toBe(0);
});
