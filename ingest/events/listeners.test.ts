import { expect, test } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { ListeningMeter } from './listener.ts';
import { createListeners } from './listeners.ts';

const TYPES = new Set(['prompt']);

/** Queries that end when the test says so. */
function listenersUnderTest() {
  const queries: Array<{ end(...types: string[]): void; fail(): void }> = [];
  const load = () =>
    new Promise<ListeningMeter[]>((resolve, reject) => {
      queries.push({
        end: (...types) => resolve(types.map(meterOf)),
        fail: () => reject(new Error('a fault')),
      });
    });
  const { find } = createListeners({ clock: systemClock, load });
  return { queries, find: async (environment = 'ws:live') => find(environment, TYPES) };
}

function meterOf(eventType: string): ListeningMeter {
  return { key: `of-${eventType}`, aggregation: 'sum', property: undefined, eventSource: { eventType } };
}

/** Red when each request of a type that no meter listens to makes a query: they share four connections. */
test('requests that come while a query runs share the next, which finds what there was by then', async () => {
  const { queries, find } = listenersUnderTest();
  const first = find();
  const others = Array.from({ length: 1_000 }, () => find());
  const elsewhere = find('other:live');
  expect(queries).toHaveLength(2);
  queries[0]?.end();
  expect((await first).size).toBe(0);
  await expect.poll(() => queries.length).toBe(3);
  queries[2]?.end('prompt');
  for (const found of await Promise.all(others)) expect([...found.keys()]).toEqual(['prompt']);
  queries[1]?.end('prompt');
  expect((await elsewhere).size).toBe(1);
  expect((await find()).size).toBe(1);
  expect(queries).toHaveLength(3);
});

test('a query that fails is not the end of those that follow', async () => {
  const { queries, find } = listenersUnderTest();
  const [first, next] = [find(), find()];
  const failed = expect(first).rejects.toThrow('a fault');
  queries[0]?.fail();
  await failed;
  await expect.poll(() => queries.length).toBe(2);
  queries[1]?.end('prompt');
  expect((await next).size).toBe(1);
});
