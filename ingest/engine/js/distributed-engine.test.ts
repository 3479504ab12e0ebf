import { expect, test } from 'vitest';
import { engineConformance } from '../../../infra/ports/conformance/engine.ts';
import type { Engine } from '../../../infra/ports/engine.ts';
import { type Claim, OUTCOME } from '../../../infra/ports/idempotency-store.ts';
import type { ChangeRows } from '../../../schemas/stored/change-rows.ts';
import { batchOf, frameOf, takeTimes } from '../../distributed/claim-round.ts';
import { CUSTOMER, openDistributedEngine } from '../../distributed/distributed-usage-under-test.ts';
import { engineHarnessesOfThisFile } from '../engine-under-test.ts';
import { createDistributedEngine } from './distributed-engine.ts';
import type { EngineDeps } from './js-engine.ts';

/** As a round of one request decides it, but without the wait: the store of the harness responds at once. */
function decidingAtOnce(deps: EngineDeps): Engine {
  const distributed = createDistributedEngine({ ...deps, hotWindowMs: 3 * 86_400_000 });
  return {
    read: distributed.read,
    decide(reading) {
      const identified = distributed.identify(reading as never);
      if (!('count' in identified)) return identified;
      const parts = [{ identified, items: [...Array(identified.count).keys()] }];
      const batch = batchOf(parts, 0);
      const claim = deps.store.claim(batch) as Claim;
      takeTimes(parts, batch);
      const response = identified.response(batch.outcomes);
      if (claim.created === 0 && !claim.waits) return { response };
      const { records, lines, ...frame } = frameOf(parts, batch, false);
      const bytes = { records: Buffer.concat(records), lines: Buffer.concat(lines) };
      return { response, commit: { claim, ...frame, ...bytes } };
    },
  };
}

engineConformance('the distributed engine', await engineHarnessesOfThisFile(decidingAtOnce));

// Red when voids are written unflagged: one whose key was forgotten takes its event away twice.
test('all voids are flagged, and nothing else that is new is', async () => {
  const engine = await openDistributedEngine({});
  const events = ['a', 'b'].map((name) => {
    const idempotencyKey = `use_${name.repeat(26)}`;
    return { idempotencyKey, customerId: CUSTOMER, meterId: 'calls', value: 1 };
  });
  const flagged = async (change?: ChangeRows) => {
    const body = Buffer.from(JSON.stringify({ events }));
    const sent = { environment: 'ws_a:live', kind: 'batch', body, includeEvents: false } as const;
    const reading = await engine.read({ ...sent, change, isOwn: true, requestId: 'req_a' });
    const identified = engine.identify(reading);
    if (!('count' in identified)) throw new Error('rejected');
    const parts = [{ identified, items: [0, 1] }];
    const batch = batchOf(parts, 0);
    batch.outcomes.fill(OUTCOME.created);
    return frameOf(parts, batch, false).recheck;
  };
  expect(await flagged()).toEqual([]);
  expect(await flagged({ number: 7, voids: false })).toEqual([]);
  expect(await flagged({ number: 7, voids: true })).toEqual([0, 1]);
});
