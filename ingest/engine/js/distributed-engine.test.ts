import { engineConformance } from '../../../infra/ports/conformance/engine.ts';
import type { Engine } from '../../../infra/ports/engine.ts';
import type { Claim } from '../../../infra/ports/idempotency-store.ts';
import { batchOf, frameOf, takeTimes } from '../../distributed/claim-round.ts';
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
