import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { columnsOf, NOW_MS, SOUND, sessionForEachTest } from './engine-session.ts';

/** Events of one millisecond are ordered by their arrival (schemas/stored/event-row.ts). */
export function engineOrderTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);
  const gauge = (value: number, key: string) => ({ ...SOUND, meterId: 'seats', value, idempotencyKey: key });
  const orderOf = (line: string) => columnsOf(line).unique_value;

  /** Red when the place in the batch is lost, or starts at 0 in the next request of the millisecond. */
  test('gauges of one batch, and of the next in its millisecond, are in the order of arrival', async () => {
    session().putMeter({ key: 'seats', isLatest: true });
    const first = await session().batch([1, 2, 3, 4, 5].map((value) => gauge(value, `a${value}`)));
    const second = await session().batch([6, 7].map((value) => gauge(value, `a${value}`)));
    const third = await session().single(gauge(8, ''), 'a8');
    const orders = [...first.lines, ...second.lines, ...third.lines].map(orderOf);
    expect(orders).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((at) => `#00000${at}`));
    session().setNow(NOW_MS + 1);
    expect((await session().batch([gauge(9, 'a9')])).lines.map(orderOf)).toEqual(['#000000']);
  });

  test('other meters carry no order, and a duplicate takes no line', async () => {
    session().putMeter({ key: 'seats', isLatest: true });
    const mixed = [gauge(1, 'a'), { ...SOUND, idempotencyKey: 'b' }, gauge(1, 'a'), gauge(2, 'c')];
    // Twice: names that are known take another way.
    for (const key of ['x', 'y']) {
      const events = mixed.map((event) => ({ ...event, idempotencyKey: key + event.idempotencyKey }));
      const { lines } = await session().batch(events);
      const [first = '', other = '', last = ''] = lines.map((line) => String(orderOf(line)));
      expect([lines.length, other, first < last]).toEqual([3, '', true]);
    }
  });
}
