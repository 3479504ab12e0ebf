import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected } from '../../schemas/failures.ts';
import { type FoundEvent, findUsageEvents } from '../store/read-usage-events.ts';
import { readConsistently } from '../usage/consistency.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { ReadLong } from '../usage/long-reads.ts';
import { beginReadTime } from '../usage/read-time.ts';

export interface FindCorrectedDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  readLong: ReadLong;
}

export type FindCorrected = (environment: string, id: string) => Promise<FoundEvent>;

/**
 * Finds an event that was acknowledged before this call, and whether it is voided. Throws Rejected
 * `not_found`, and `unavailable` where it cannot be known in time.
 */
export function createFindCorrected({ warehouse, freshness, readLong }: FindCorrectedDeps): FindCorrected {
  return async (environment, id) => {
    const time = beginReadTime('strong');
    const wish = { consistency: 'strong' as const, environment, time };
    const [event] = await readConsistently(freshness, wish, (_, view) =>
      readLong(time, environment, () => findUsageEvents({ warehouse, view }, { environment, id })),
    );
    if (event) return event;
    throw new Rejected('not_found', `There is no usage event ${id}.`, { param: 'usageEventId' });
  };
}
