import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { Transient } from '../../schemas/failures.ts';
import type { Consistency } from '../../schemas/resources/consistency.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { Repairs } from '../store/repairs.ts';
import { awaitConsistency, readConsistently } from './consistency.ts';
import { createFreshness, type Freshness } from './freshness.ts';
import type { Loaded } from './progress.ts';
import { beginReadTime } from './read-time.ts';
import type { UsageViews } from './usage-views.ts';

/*
 * Time advances only by `vi.advanceTimersByTimeAsync`. Mutants this suite catches: a sample's time taken
 * after its end; asOf of the latest sample whether loaded or not; no poll; a notification of another log
 * trusted; waiters woken by any notification; no bound on waiters.
 */
const START_MS = Date.UTC(2026, 0, 1);

let end: number;
let stored: Loaded | undefined;
let requested: number;
let isPostgresDown: boolean;
/** How long a read of the log's end takes. */
let lookMs: number;
let repairs: Repairs;
let freshness: Freshness;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
  [end, stored, requested, isPostgresDown, lookMs] = [0, undefined, 0, false, 0];
  repairs = { isOpen: false, hasFailed: false, ended: null };
  freshness = createFreshness({
    logId: 'aa',
    durableEnd: async () => {
      const seen = end;
      if (lookMs > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
      return seen;
    },
    readLoaded: async () => {
      if (isPostgresDown) throw new Transient('database_unavailable', 'Postgres is unavailable');
      return stored;
    },
    repairs: async () => repairs,
    views: { of: async () => NO_CHANGES, fresh: async () => NO_CHANGES } as unknown as UsageViews,
    requestLoad: async () => {
      requested += 1;
    },
    clock: systemClock,
    log: SILENT,
  });
});

afterEach(() => {
  freshness.close();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const notifyLoaded = (hi: number, throughMs = 0, logId = 'aa') =>
  freshness.loaded({ logId, partition: 0, hi, throughMs });
const asOf = () => freshness.asOfMs() - START_MS;

const waitOf = (withinMs: number, environment = 'a') => ({ environment, withinMs });

function wishOf(consistency: Consistency) {
  return { consistency, time: beginReadTime(consistency), environment: 'a' };
}

/** A promise's outcome as far as it is known. */
function watch(promise: Promise<boolean>): { outcome: boolean | undefined } {
  const seen: { outcome: boolean | undefined } = { outcome: undefined };
  void promise.then((outcome) => {
    seen.outcome = outcome;
  });
  return seen;
}

describe('freshness', () => {
  it('of an empty log is now', async () => {
    expect(await freshness.arrive()).toBe(0);
    expect(await freshness.reached(0, waitOf(0))).toBe(true);
    expect(asOf()).toBe(0);
    await pass(1_000);
    expect(asOf()).toBe(1_000);
  });

  it('is the latest time whose end is loaded', async () => {
    await freshness.arrive();
    for (end = 100; end <= 500; end += 100) await pass(100);
    end = 500;
    expect(asOf()).toBe(0);
    notifyLoaded(250);
    expect(asOf()).toBe(200);
    notifyLoaded(400);
    expect(asOf()).toBe(400);
    notifyLoaded(500);
    await pass(100);
    expect(asOf()).toBe(600);
  });

  it('never decreases, and ignores a notification of another log', async () => {
    await freshness.arrive();
    end = 100;
    await pass(100);
    notifyLoaded(100, 0, 'bb');
    expect(asOf()).toBe(0);
    notifyLoaded(100);
    notifyLoaded(50);
    expect(asOf()).toBe(100);
    expect(await freshness.reached(100, waitOf(0))).toBe(true);
  });

  it('counts a sample from before its look at the log', async () => {
    lookMs = 50;
    const arrived = freshness.arrive();
    await pass(10);
    end = 100; // durable while the read is in progress: it may be seen or not
    await pass(50);
    await arrived;
    expect(asOf()).toBe(0);
  });

  it('is the time of the last range if no sample is as old', async () => {
    end = 1_000;
    stored = { hi: 600, throughMs: START_MS - 5_000 };
    await freshness.arrive();
    expect(asOf()).toBe(-5_000);
    expect(freshness.lag()).toEqual({ bytes: 400, seconds: 5 });
  });
});

describe('a waiting read', () => {
  it('requests one load for concurrent reads, and is woken by the notification of its end', async () => {
    await freshness.arrive();
    end = 100;
    const reads = [50, 100, 100].map((position) => watch(freshness.reached(position, waitOf(1_000))));
    await pass(5);
    expect(requested).toBe(1);
    notifyLoaded(60);
    await pass(0);
    expect(reads.map(({ outcome }) => outcome)).toEqual([true, undefined, undefined]);
    notifyLoaded(100);
    await pass(0);
    expect(reads.map(({ outcome }) => outcome)).toEqual([true, true, true]);
  });

  it('gives up when its time is over', async () => {
    await freshness.arrive();
    const read = watch(freshness.reached(100, waitOf(1_000)));
    await pass(999);
    expect(read.outcome).toBeUndefined();
    await pass(1);
    expect(read.outcome).toBe(false);
  });

  it('is found by the poll when the notification is lost, and requests the load again', async () => {
    await freshness.arrive();
    const read = watch(freshness.reached(100, waitOf(1_000)));
    stored = { hi: 100, throughMs: 0 };
    await pass(300);
    expect(read.outcome).toBe(true);
    expect(requested).toBeGreaterThan(1);
  });

  it('is found at once by a new session', async () => {
    await freshness.arrive();
    await pass(1_000);
    stored = { hi: 100, throughMs: 0 };
    freshness.newSession();
    await pass(100);
    expect(await freshness.reached(100, waitOf(0))).toBe(true);
  });

  // Red with one bound for all: a thousand of one environment cause every other to be rejected.
  it('is rejected when five hundred of its environment wait, and not for those of others', async () => {
    await freshness.arrive();
    const waiting = Array.from({ length: 500 }, () => freshness.reached(100, waitOf(1_000)));
    const rejected = freshness.reached(100, waitOf(1_000));
    await expect(rejected).rejects.toMatchObject({ rejection: { code: 'overloaded' } });
    for (let at = 0; at < 250; at += 1) waiting.push(freshness.reached(100, waitOf(1_000, 'b')));
    await pass(1_000);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    expect(await Promise.all([freshness.reached(0, waitOf(0)), freshness.arrive()])).toEqual([true, 0]);
  });

  it('fails until the first read of Postgres, and continues from notifications after it', async () => {
    isPostgresDown = true;
    await expect(freshness.arrive()).rejects.toMatchObject({ code: 'database_unavailable' });
    isPostgresDown = false;
    await freshness.arrive();
    isPostgresDown = true;
    end = 100;
    notifyLoaded(100);
    await expect(freshness.arrive()).resolves.toBe(100);
    expect(await freshness.reached(100, waitOf(0))).toBe(true);
  });
});

describe('consistency', () => {
  it('waits a second by default and then responds with an earlier asOf', async () => {
    await freshness.arrive();
    end = 100;
    const read = awaitConsistency(freshness, wishOf(undefined));
    await pass(1_000);
    expect((await read) - START_MS).toBe(0);
  });

  it('waits five seconds when strong, and rejects then', async () => {
    await freshness.arrive();
    end = 100;
    const read = awaitConsistency(freshness, wishOf('strong'));
    const rejected = expect(read).rejects.toMatchObject({ rejection: { code: 'unavailable' } });
    await pass(5_000);
    await rejected;
  });

  it('does not wait when eventual', async () => {
    await freshness.arrive();
    end = 100;
    expect((await awaitConsistency(freshness, wishOf('eventual'))) - START_MS).toBe(0);
    expect(requested).toBe(0);
  });

  // Red when repairs are checked only before the read: it may have waited for the semaphore meanwhile.
  it.each<[string, Partial<Repairs>]>([
    ['begins', { isOpen: true, ended: null }],
    ['begins and ends', { isOpen: false, ended: 'another' }],
  ])('rejects a strong read where a repair %s under the read', async (_, meanwhile) => {
    const read = (consistency: Consistency) =>
      readConsistently(freshness, wishOf(consistency), async () => {
        repairs = { ...repairs, ...meanwhile };
        return 'read';
      });
    await expect(read('strong')).rejects.toMatchObject({ rejection: { code: 'unavailable' } });
    expect(await read(undefined)).toBe('read');
  });

  it('takes a long read for none of the time of what comes after it', async () => {
    const time = beginReadTime('strong');
    const long = time.untimed(() => new Promise<void>((resolve) => setTimeout(resolve, 60_000)));
    await pass(60_000);
    await long;
    expect(time.leftMs()).toBe(5_000);
  });
});
