import { expect, test } from 'vitest';
import type { CreateEngineHarness } from './engine-harness.ts';
import { SOUND, sessionForEachTest } from './engine-session.ts';

/** Large enough for memory that is used again. */
const EVENTS = 400;

const batch = (name: string) =>
  Array.from({ length: EVENTS }, (_, at) => ({ ...SOUND, idempotencyKey: `${name}-${at}` }));

/** A response waits for the log, and then for its client: its bytes must not change in that time. */
export function engineResponseTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);

  /** Red when memory of another response is given back, or a response lies in that of the lines. */
  test('a response stays as it is whatever else is decided, committed or released', async () => {
    await session().batch([{ ...SOUND, idempotencyKey: 'first' }]);
    const one = await session().batch(batch('one'));
    const two = await session().batch([...batch('two').slice(1), ...batch('one').slice(0, 1)]);
    const bodies = [one, two].map(({ body }) => body.toString());
    await session().batch(batch('three'));
    expect([one, two].map(({ body }) => body.toString())).toEqual(bodies);
    one.release?.();
    one.release?.();
    const later = [await session().batch(batch('four')), await session().batch(batch('five'))];
    expect(two.body.toString()).toBe(bodies[1]);
    expect(later.map(({ body }) => body.includes('four-0'))).toEqual([true, false]);
    expect(two.json.summary).toMatchObject({ created: EVENTS - 1, duplicate: 1 });
  });
}
