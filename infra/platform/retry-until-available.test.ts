import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { retryUntilAvailable } from './retry-until-available.ts';

test('an unavailable store is tried again until it is available', async () => {
  const act = vi.fn(async () => 'there');
  act.mockRejectedValueOnce(new Transient('log_not_there', 'no'));
  act.mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
  expect(await retryUntilAvailable('it', act, SILENT)).toBe('there');
  expect(act).toHaveBeenCalledTimes(3);
});

test('a wait that is part of every start is logged in a line, and with its error once it lasts', async () => {
  vi.useFakeTimers();
  try {
    const notified: string[] = [];
    const talking = pino({}, { write: (line: string) => void notified.push(line) });
    const act = vi.fn(async () => 'there');
    for (let attempt = 0; attempt < 150; attempt += 1) {
      act.mockRejectedValueOnce(new Transient('log_not_there', 'no log yet'));
    }
    const done = retryUntilAvailable('it', act, talking);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await done).toBe('there');
    expect(notified.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 30, msg: 'waiting for it', reason: 'no log yet' }),
      expect.objectContaining({ level: 40, msg: 'still waiting for it', err: expect.anything() }),
    ]);
  } finally {
    vi.useRealTimers();
  }
});

/** Red when everything is tried again: a database of a later release would be tried forever. */
test('a permanent error is thrown at once', async () => {
  const act = vi.fn(() => Promise.reject(new Fatal('database_newer', 'no')));
  await expect(retryUntilAvailable('it', act, SILENT)).rejects.toMatchObject({ code: 'database_newer' });
  expect(act).toHaveBeenCalledOnce();
});
