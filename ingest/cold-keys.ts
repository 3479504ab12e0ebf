import type { Identified } from '../infra/ports/engine.ts';
import { OUTCOME } from '../infra/ports/idempotency-store.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { Transient } from '../schemas/failures.ts';
import { UNAVAILABLE } from './engine/judge-state.ts';
import { type ColdEvent, type ColdItem, findColdEvents } from './store/find-cold-events.ts';

/**
 * Decides the items whose keys the store may have forgotten: a key is kept for the hot window, and a replay
 * of an older event is found where the events are. All items of the request with its key are decided by it.
 * Writes their outcomes, and gives the items that are decided. While ClickHouse is away nothing can be said
 * of them, and they are refused, alone with what stands behind them in the request with the same key: it
 * would take the key, and what was sent first be refused.
 */
export async function decideCold(
  warehouse: Pick<Warehouse, 'query'>,
  identified: Identified,
  outcomes: Uint8Array,
): Promise<Set<number>> {
  const cold = coldItems(identified);
  try {
    const found = withSameKeys(identified, await findColdEvents(warehouse, cold));
    const words = new BigUint64Array(identified.records.buffer, 0, identified.count * 5);
    const times = new Float64Array(identified.records.buffer);
    for (const [item, { fingerprint, occurredAtMs, createdAtMs }] of found) {
      const isSame = words[item * 5 + 2] === fingerprint;
      outcomes[item] = isSame ? OUTCOME.duplicate : OUTCOME.reused;
      if (isSame) times.set([occurredAtMs, createdAtMs], item * 5 + 3);
    }
    return new Set(found.keys());
  } catch (error) {
    if (!(error instanceof Transient)) throw error;
    const refused = withSameKeysBehind(identified);
    for (const item of refused) identified.refuse(item, UNAVAILABLE);
    return refused;
  }
}

function withSameKeys(identified: Identified, found: Map<number, ColdEvent>): Map<number, ColdEvent> {
  const idOf = idsOf(identified);
  const events = new Map([...found].map(([item, event]) => [idOf(item), event]));
  const all = new Map<number, ColdEvent>();
  for (let item = 0; item < identified.count && events.size > 0; item++) {
    const event = events.get(idOf(item));
    if (event) all.set(item, event);
  }
  return all;
}

function withSameKeysBehind(identified: Identified): Set<number> {
  const { cold, count } = identified;
  const idOf = idsOf(identified);
  const ids = new Set<string>();
  const behind = new Set<number>();
  const isCold = new Set(cold);
  for (let item = 0; item < count; item++) {
    if (isCold.has(item)) ids.add(idOf(item));
    if (ids.has(idOf(item))) behind.add(item);
  }
  return behind;
}

function idsOf({ count, records }: Identified): (item: number) => string {
  const words = new BigUint64Array(records.buffer, 0, count * 5);
  return (item) => `${words[item * 5]} ${words[item * 5 + 1]}`;
}

function coldItems({ cold, pairs, pairOf, records }: Identified): ColdItem[] {
  const times = new Float64Array(records.buffer);
  const bytes = new Uint8Array(records.buffer);
  return cold.map((item) => ({
    item,
    pair: pairs[pairOf[item] ?? 0] ?? '',
    occurredAtMs: times[item * 5 + 3] ?? 0,
    id: bytes.subarray(item * 40, item * 40 + 16),
  }));
}
