import type { Pool } from 'pg';
import { eventIdOf } from '../../domain/rules/event-id.ts';
import { environmentKeyOf, readIdentityKey } from '../../domain/secrets.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Handlers } from '../http/request-context.ts';
import { findUsageEvents } from '../store/read-usage-events.ts';
import { readConsistently } from '../usage/consistency.ts';
import { readEventLinks } from '../usage/event-links.ts';
import { shownEvent } from '../usage/event-page.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { ReadLong } from '../usage/long-reads.ts';
import { beginReadTime } from '../usage/read-time.ts';

export interface FindUsageDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  readLong: ReadLong;
}

export function createFindUsageEvents(deps: FindUsageDeps): Handlers['usage.findEvents'] {
  const { pool, warehouse, freshness, readLong } = deps;
  return async ({ environment }, { query }) => {
    const time = beginReadTime(query.consistency);
    const id = await time.within(soughtId(pool, environment, query));
    return readConsistently(freshness, { ...query, environment, time }, async (asOfMs, view) => {
      const usage = { warehouse, view };
      const found = await readLong(time, environment, () => findUsageEvents(usage, { environment, id }));
      const links = await time.within(readEventLinks(pool, environment, found));
      return { data: found.map((event) => shownEvent(event, event, links)), asOf: timestampText(asOfMs) };
    });
  };
}

interface Sought {
  id?: string;
  idempotencyKey?: string;
}

/** Throws Rejected unless the request names one of them. */
async function soughtId(pool: Pool, environment: string, { id, idempotencyKey }: Sought): Promise<string> {
  if (id !== undefined && idempotencyKey !== undefined) {
    throw new Rejected('invalid_request', 'Send either `idempotencyKey` or `id`, not both.', { param: 'id' });
  }
  if (id !== undefined) return id;
  if (idempotencyKey === undefined) {
    const message = 'Send the `idempotencyKey` or the `id` of the event.';
    throw new Rejected('invalid_request', message, { param: 'idempotencyKey' });
  }
  const identityKey = await readIdentityKey(pool);
  if (!identityKey) throw new Transient('identity_key_missing', 'No process has created it yet.');
  return eventIdOf(environmentKeyOf(identityKey, environment), idempotencyKey);
}
