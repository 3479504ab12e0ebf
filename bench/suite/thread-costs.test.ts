import { expect, it } from 'vitest';
import { createThreadCosts } from './thread-costs.ts';

const time = (thread: number, name: string, micros: number) => ({ thread, name, micros });

it('what threads take is added up by the name that each has then', () => {
  const costs = createThreadCosts([time(1, 'main', 1_000), time(2, 'Query', 50)]);
  costs.add([time(1, 'main', 1_300), time(2, 'Query', 60), time(3, 'Merge', 7)]);
  costs.add([time(1, 'main', 1_400), time(2, 'Merge', 90)]);
  expect(costs.byName()).toEqual({ main: 400, Merge: 37, Query: 10 });
});

// Fault this catches: a negative cost where the number of a thread that ended is given to a new one.
it('a thread with the number of one that ended begins at nothing', () => {
  const costs = createThreadCosts([time(2, 'Query', 5_000)]);
  costs.add([time(2, 'Merge', 20)]);
  expect(costs.byName()).toEqual({ Merge: 20 });
});
