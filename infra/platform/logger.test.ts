import fs, { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { createLogger } from './logger.ts';

function openLog(path: string) {
  const dest = openSync(path, 'a');
  onTestFinished(() => closeSync(dest));
  return createLogger({ role: 'test', level: 'info', dest });
}

/** Writes fail until it is restored, or so many times. */
function fillDisk(times = Number.POSITIVE_INFINITY) {
  const { writeSync } = fs;
  let left = times;
  const writes = vi.spyOn(fs, 'writeSync').mockImplementation(((...given: Parameters<typeof writeSync>) => {
    if (left-- > 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    return writeSync(...given);
  }) as typeof writeSync);
  onTestFinished(() => writes.mockRestore());
  return writes;
}

// Red without a listener: the error is thrown into the caller of the logger, and ends healthy processes.
it('a log on a full disk costs its lines and nothing else', () => {
  const log = openLog('/dev/full');
  expect(() => {
    for (let line = 0; line < 100; line++) log.error({ text: 'x'.repeat(100_000) }, 'not written');
  }).not.toThrow();
});

// Red when a line that is dropped tries nothing: from then on all are dropped.
it('a log whose disk has room again continues, with the lines that waited', () => {
  const path = join(testFolder(), 'log');
  const log = openLog(path);
  const text = 'x'.repeat(10_000);
  const disk = fillDisk();
  for (let line = 0; line < 200; line++) log.info({ line, text }, 'full');
  disk.mockRestore();
  log.info({ text }, 'room');
  const written = readFileSync(path, 'utf8').trim().split('\n');
  const lines = written.map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({ msg: 'room' });
  expect(lines.slice(0, -1).map(({ line }) => line)).toEqual(written.slice(1).map((_, line) => line));
  expect(written.length).toBeGreaterThan(90);
});

// Red when the destination is made to flush: it retries until it succeeds, and a stopping process hangs.
it('a last line that cannot be written delays no process', () => {
  const log = openLog(join(testFolder(), 'log'));
  const writes = fillDisk(5);
  log.fatal('this process has to stop');
  expect(writes).toHaveBeenCalledTimes(1);
});
