import { expect } from 'vitest';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { createRandom } from '../support/random.ts';
import { makeHistory, storeHistories } from './changed-history.ts';
import { readsOf } from './read-history.ts';

/** Of one statement that stores them: each change of the same number is one block. */
const TOGETHER = 50;
const TIMEOUT_MS = 120_000;

/**
 * Every read of usage after random changes, compared with a walk over the events that are left: voids,
 * amendments, selections and backfills with replacement, open, visible or reverted, also with views of an
 * earlier time, when what came later is stored already. Throws where one differs.
 */
export async function compareHistories(
  given: Warehouse,
  { count, seed }: { count: number; seed: number },
): Promise<void> {
  // On a busy machine a statement takes longer than readers wait.
  const warehouse: Warehouse = {
    ...given,
    query: (statement) => given.query({ ...statement, timeoutMs: TIMEOUT_MS }),
  };
  for (let first = 0; first < count; first += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, count - first) }, (_, at) => first + at);
    const made = numbers.map((at) => {
      const random = createRandom(seed * 1_000_003 + at);
      return { random, history: makeHistory(`ws_${at}:live`, random) };
    });
    await storeHistories(
      warehouse,
      made.map(({ history }) => history),
    );
    for (const { history, random } of made) {
      const { environment, snapshots } = history;
      for (const [at, snapshot] of snapshots.entries()) {
        for (const { name, read, expected } of readsOf({ ...snapshot, warehouse, environment, random })) {
          const of = { seed, environment, snapshot: at, view: snapshot.view, name };
          expect({ ...of, read: await read() }).toEqual({ ...of, read: expected });
        }
      }
    }
  }
}
