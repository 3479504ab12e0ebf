import { type Api, callDone } from '../../tests/support/api.ts';
import { createRandom, type Random } from '../../tests/support/random.ts';
import { sendBatches } from '../send-batches.ts';

/** How usage is spread: what it takes on disk depends on it more than on anything else. */
export interface Shape {
  customers: number;
  meters: number;
  /** What occurredAt is spread over, up to now. */
  spreadMs: number;
}

export interface ShapedUsage {
  /** Begins each idempotency key. */
  keyPrefix: string;
  origin: string;
  key: string;
  customers: readonly string[];
  meters: readonly string[];
  spreadMs: number;
  events: number;
  nowMs: number;
}

const CREATED_AT_ONCE = 4;
/** In turns. */
const AGGREGATIONS = ['sum', 'sum', 'count', 'max', 'latest', 'unique'];

/** Makes customers and meters of every aggregation. */
export async function createShape(
  api: Api,
  { customers, meters }: Shape,
): Promise<Pick<ShapedUsage, 'customers' | 'meters'>> {
  const keys = Array.from({ length: meters }, (_, number) => `shape_${number}`);
  for (const [number, key] of keys.entries()) {
    const aggregation = AGGREGATIONS[number % AGGREGATIONS.length];
    const property = aggregation === 'unique' ? { property: 'user' } : {};
    await callDone(api, 'POST', '/meters', { key, name: key, aggregation, ...property });
  }
  const ids: string[] = [];
  let begun = 0;
  const create = async () => {
    while (begun < customers) {
      const body = { name: `Shape ${begun++}`, email: 'shape@example.com' };
      ids.push(String((await callDone(api, 'POST', '/customers', body)).id));
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, create));
  return { customers: ids, meters: keys };
}

/** No event is like another: repeated content would be compressed to nothing. */
export async function sendShape(usage: ShapedUsage): Promise<void> {
  const random = createRandom(29);
  await sendBatches({ ...usage, eventOf: (number) => eventOf(usage, random, number) });
}

/** Some customers use more than others. */
function eventOf(usage: ShapedUsage, random: Random, number: number): string {
  const { customers, meters, spreadMs, nowMs, keyPrefix } = usage;
  const customer = customers[Math.min(random.below(customers.length), random.below(customers.length))];
  const occurredAt = new Date(nowMs - random.below(spreadMs)).toISOString();
  const cached = random.chance(0.5);
  const properties = `{"cached":${cached},"size":${random.below(64)},"user":"user-${random.below(1_000)}"}`;
  return (
    `{"idempotencyKey":"${keyPrefix}-${number}","customerId":"${customer}",` +
    `"meterId":"${random.pick(meters)}","value":${random.below(1_000)}.${random.below(100)}1,` +
    `"occurredAt":"${occurredAt}","properties":${properties}}`
  );
}
