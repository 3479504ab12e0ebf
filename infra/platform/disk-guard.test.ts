import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDiskGuard, type Space } from './disk-guard.ts';

const GIB = 1024 ** 3;
const lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
const directory = tmpdir();

describe('the disk guard', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  // Red when only a change is reported: a start on a full disk then looks like any other.
  it('knows at once whether the disk is low, and reports it with both numbers', () => {
    const { bavail, bsize } = statfsSync(directory);
    for (const [bytesMin, isLow] of [[0, false] as const, [bavail * bsize * 2, true] as const]) {
      lines.length = 0;
      const guard = createDiskGuard({ directory, bytesMin, log });
      expect(guard.isLow()).toBe(isLow);
      const notified = { freeBytes: expect.any(Number), freeBytesMin: bytesMin };
      expect(lines.map((line) => JSON.parse(line))).toEqual(isLow ? [expect.objectContaining(notified)] : []);
      guard.close();
    }
  });

  it('requires 1 GiB or 5 % of the disk, whichever is more, by default', async () => {
    const { guard, look } = openGuard();
    expect(await look(gibs(10, 1.01))).toBe(false);
    expect(await look(gibs(10, 0.99))).toBe(true);
    expect(await look(gibs(100, 4.99))).toBe(true);
    expect(await look(gibs(100, 5.01))).toBe(false);
    guard.close();
  });

  it('requires the configured amount', async () => {
    const { guard, look } = openGuard(1_000_000);
    expect(await look(gibs(100, 0.01))).toBe(false);
    expect(await look(gibs(100, 0))).toBe(true);
    guard.close();
  });

  it('keeps what it knows when the disk cannot be looked at', async () => {
    const { guard, look } = openGuard();
    expect(await look(gibs(100, 1))).toBe(true);
    expect(await look(undefined)).toBe(true);
    guard.close();
  });

  it('looks no more once it is closed', async () => {
    const { guard, look } = openGuard();
    guard.close();
    expect(await look(gibs(100, 0))).toBe(guard.isLow());
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A guard over a disk in the hands of the test; `look` lets it see one. */
function openGuard(bytesMin?: number) {
  let space: Space | undefined;
  const readSpace = async () => {
    if (!space) throw new Error('no such disk');
    return space;
  };
  const guard = createDiskGuard({ directory, bytesMin, log, readSpace });
  return {
    guard,
    async look(next: Space | undefined): Promise<boolean> {
      space = next;
      await vi.advanceTimersByTimeAsync(1_000);
      return guard.isLow();
    },
  };
}

function gibs(size: number, free: number): Space {
  return { bsize: 4096, blocks: (size * GIB) / 4096, bavail: (free * GIB) / 4096 };
}
