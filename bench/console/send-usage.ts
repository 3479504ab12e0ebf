import { createRandom, type Random } from '../../tests/support/random.ts';
import { sendBatches } from '../send-batches.ts';
import { METERS } from './catalogue.ts';

export interface Usage {
  origin: string;
  key: string;
  customers: readonly string[];
  events: number;
  nowMs: number;
  onAcknowledged: (events: number) => void;
}

const SPREAD_MS = 20 * 86_400_000;
const LIMITED_SHARE = 0.8;
const VALUE_MAX = 100;
const REGIONS = ['eu', 'us', 'apac'];
const ENDPOINTS = ['search', 'render', 'export', 'import', 'login'];

/** Batches of new events, each of any customer and time: few events, but of all customers. */
export async function sendUsage({ events, onAcknowledged, ...usage }: Usage): Promise<void> {
  const random = createRandom(28);
  const eventOfNumber = (number: number) => eventOf(usage, random, number);
  await sendBatches({ ...usage, events, onAcknowledged, eventOf: eventOfNumber });
}

/** Some customers use hundreds of times as much as most; each of them has used something. */
function eventOf(
  { customers, nowMs }: Pick<Usage, 'customers' | 'nowMs'>,
  random: Random,
  number: number,
): string {
  const place = random.below(2 ** 20) / 2 ** 20;
  const customerId = customers[Math.floor(place * place * customers.length)];
  const meterId = random.chance(LIMITED_SHARE) ? METERS.limited : METERS.open;
  const occurredAt = new Date(nowMs - random.below(SPREAD_MS)).toISOString();
  const properties = `{"region":"${random.pick(REGIONS)}","endpoint":"${random.pick(ENDPOINTS)}"}`;
  return (
    `{"idempotencyKey":"scale-${number}","customerId":"${customerId}","meterId":"${meterId}",` +
    `"value":${1 + random.below(VALUE_MAX)},"occurredAt":"${occurredAt}","properties":${properties}}`
  );
}
