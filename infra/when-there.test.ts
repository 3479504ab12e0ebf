import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Fatal, Transient } from '../schemas/failures.ts';
import { whenThere } from './when-there.ts';

const log = pino({ level: 'silent' });

test('what is away is asked again until it is there', async () => {
  const act = vi.fn(async () => 'there');
  act.mockRejectedValueOnce(new Transient('log_not_there', 'no'));
  act.mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
  expect(await whenThere('it', act, log)).toBe('there');
  expect(act).toHaveBeenCalledTimes(3);
});

/** Red when everything is tried again: a database of a later release would be asked for ever. */
test('what time cannot mend is thrown at once', async () => {
  const act = vi.fn(() => Promise.reject(new Fatal('database_newer', 'no')));
  await expect(whenThere('it', act, log)).rejects.toMatchObject({ code: 'database_newer' });
  expect(act).toHaveBeenCalledOnce();
});
