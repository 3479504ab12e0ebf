import { expect, it } from 'vitest';
import { warehouseOfThisFile } from '../support/log-and-warehouse.ts';
import { createRandom } from '../support/random.ts';
import { makeHistory, storeHistories } from './changed-history.ts';
import { readsOf } from './read-history.ts';

/*
 * Every read of usage after random changes, compared with a walk over the events that stand: voids, amendments,
 * selections and backfills with replacement, open, visible or reverted, also with views of an earlier time, when
 * what came later is stored already. The long form: CORRECTION_HISTORIES=5000.
 */
const HISTORIES = Number(process.env.CORRECTION_HISTORIES ?? 40);
const SEED = Number(process.env.CORRECTION_SEED ?? 1);
const TOGETHER = 50;
const warehouse = await warehouseOfThisFile();

it('every read gives what it would if nothing wrong had ever been sent', { timeout: 3_600_000 }, async () => {
  for (let first = 0; first < HISTORIES; first += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, HISTORIES - first) }, (_, at) => first + at);
    const histories = numbers.map((at) => {
      const random = createRandom(SEED * 1_000_003 + at);
      return { random, history: makeHistory(`ws_${at}:live`, random) };
    });
    await storeHistories(
      warehouse,
      histories.map(({ history }) => history),
    );
    for (const { history, random } of histories) {
      const { environment, moments } = history;
      for (const [at, moment] of moments.entries()) {
        for (const { name, read, expected } of readsOf({ ...moment, warehouse, environment, random })) {
          const of = { seed: SEED, environment, moment: at, view: moment.view, name };
          expect({ ...of, read: await read() }).toEqual({ ...of, read: expected });
        }
      }
    }
  }
});
