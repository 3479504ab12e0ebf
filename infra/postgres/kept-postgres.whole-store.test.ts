import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { isAlive, signal } from '../platform/process-identity.ts';
import { keepPostgres } from './kept-postgres.ts';
import { createPool } from './pool.ts';
import { findPostmaster } from './postmaster.ts';

/** Red when a dead server is left dead, and when the pool keeps the URL it was made with. */
test('a killed server is started again, and the same pool finds it on its new port', async () => {
  const directory = join(testFolder(), 'postgres');
  const onMoved = vi.fn();
  const kept = keepPostgres({ directory, log: SILENT, onMoved });
  onTestFinished(() => kept.close());
  const url = await kept.url;
  const pool = createPool({ url, name: 'test', log: SILENT });
  onTestFinished(() => pool.end());
  const before = url();
  await pool.query('CREATE TABLE kept AS SELECT 7 AS seven');
  signal(findPostmaster(directory)?.pid ?? 0, 'SIGKILL');
  await vi.waitFor(() => expect(onMoved).toHaveBeenCalledOnce(), 10_000);
  expect(url()).not.toBe(before);
  const { rows } = await pool.query('SELECT seven FROM kept');
  expect(rows).toEqual([{ seven: 7 }]);
});

/** Red when each try to publish watches the server once more: at its next end as many start it at once. */
test('its address is published until that succeeds, and it is watched once', async () => {
  const directory = join(testFolder(), 'postgres');
  const lines: string[] = [];
  const notified: string[] = [];
  let fails = 2;
  const kept = keepPostgres({
    directory,
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    onMoved(url) {
      fails -= 1;
      if (fails >= 0) throw new Error('ENOSPC');
      notified.push(url);
    },
  });
  onTestFinished(() => kept.close());
  const url = await kept.url;
  for (let deaths = 1; deaths <= 2; deaths += 1) {
    signal(findPostmaster(directory)?.pid ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(notified).toHaveLength(deaths), 20_000);
  }
  expect(lines.filter((line) => line.includes('ended and is started again'))).toHaveLength(2);
  expect(notified.at(-1)).toBe(url());
});

test('a server that is closed stays closed', async () => {
  const directory = join(testFolder(), 'postgres');
  const onMoved = vi.fn();
  const kept = keepPostgres({ directory, log: SILENT, onMoved });
  await kept.url;
  const { pid = 0 } = findPostmaster(directory) ?? {};
  expect(isAlive(pid)).toBe(true);
  await kept.close();
  expect(isAlive(pid)).toBe(false);
  expect(findPostmaster(directory)).toBeUndefined();
  expect(onMoved).not.toHaveBeenCalled();
});
