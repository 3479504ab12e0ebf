import type { Identified } from '../../infra/ports/engine.ts';
import { OUTCOME } from '../../infra/ports/idempotency-store.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { UNAVAILABLE } from '../engine/new-event-rejection.ts';
import { type ColdItem, findColdEvents } from '../store/find-cold-events.ts';

/**
 * Decides the items whose keys the store may have forgotten. The store keeps a key for the hot window; a
 * replay of an older event is found in ClickHouse, where the events are. All items of the request with such a
 * key are decided here. Writes their outcomes, and returns the items that are decided. While ClickHouse is
 * unavailable these items cannot be decided, and only these are rejected: one of them might take the key, and
 * be counted a second time.
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
    const rejected = withSameKeys(identified, new Map(cold.map(({ item }) => [item, true])));
    for (const item of rejected.keys()) identified.reject(item, UNAVAILABLE);
    return new Set(rejected.keys());
  }
}

/** By item: what is known of one item is known of all with its key. */
function withSameKeys<Known>(identified: Identified, known: Map<number, Known>): Map<number, Known> {
  const idOf = idsOf(identified);
  const byId = new Map([...known].map(([item, it]) => [idOf(item), it]));
  const all = new Map<number, Known>();
  for (let item = 0; item < identified.count && byId.size > 0; item++) {
    const it = byId.get(idOf(item));
    if (it !== undefined) all.set(item, it);
  }
  return all;
}

function idsOf({ count, records }: Identified): (item: number) => string {
  const words = new BigUint64Array(records.buffer, 0, count * 5);
  return (item) => `${words[item * 5]} ${words[item * 5 + 1]}`;
}

function coldItems({ cold, customerMeters, customerMeterOf, records }: Identified): ColdItem[] {
  const times = new Float64Array(records.buffer);
  const bytes = new Uint8Array(records.buffer);
  return cold.map((item) => ({
    item,
    customerMeter: customerMeters[customerMeterOf[item] ?? 0] ?? '',
    occurredAtMs: times[item * 5 + 3] ?? 0,
    id: bytes.subarray(item * 40, item * 40 + 16),
  }));
}
