import { expect, it } from 'vitest';
import { base32 } from '../../schemas/primitives/ids.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { findColdEvents } from './find-cold-events.ts';

const warehouse = await warehouseOfThisFile();
const idOf = (number: number) => Buffer.alloc(16, number);

/** Red where only ordinary usage is looked at: a replay of a key of a backfill would count again. */
it('an event is found by its place, also one of a change of usage', async () => {
  const line = (number: number) => eventLines([{ id: `use_${base32(idOf(number))}` }]);
  const change = { number: 3, voids: false };
  await warehouse.insertEvents({ token: 'a', lines: line(1), timeoutMs: 20_000 });
  await warehouse.insertEvents({ token: 'b', lines: line(2), timeoutMs: 20_000, change });
  const items = [1, 2, 3].map((number) => {
    const customerMeter = '"ws_a:live","cus_a","calls"';
    return { item: number, customerMeter, occurredAtMs: TEST_NOW_MS, id: idOf(number) };
  });
  // On a busy machine longer than the time that a request has.
  const patient: typeof warehouse = {
    ...warehouse,
    query: (statement) => warehouse.query({ ...statement, timeoutMs: 60_000 }),
  };
  const found = await findColdEvents(patient, items);
  expect([...found.keys()].sort()).toEqual([1, 2]);
  expect(found.get(2)).toMatchObject({ occurredAtMs: TEST_NOW_MS, createdAtMs: TEST_NOW_MS });
});
