import { createLoadConnection } from '../../tests/support/load-connection.ts';
import { createRandom, type Random } from '../../tests/support/random.ts';
import { METERS } from './catalogue.ts';

export interface Usage {
  origin: string;
  key: string;
  customers: readonly string[];
  events: number;
  nowMs: number;
  onAcknowledged: (events: number) => void;
}

const BATCH = 500;
const CONNECTIONS = 4;
const SPREAD_MS = 20 * 86_400_000;
const LIMITED_SHARE = 0.8;
const VALUE_MAX = 100;
const REGIONS = ['eu', 'us', 'apac'];
const ENDPOINTS = ['search', 'render', 'export', 'import', 'login'];

/** Batches of new events, each of any customer and time: few events, but of all customers. */
export async function sendUsage({ events, ...usage }: Usage): Promise<void> {
  const random = createRandom(28);
  let begun = 0;
  const send = async () => {
    const connection = createLoadConnection(new URL(usage.origin));
    while (begun < events) {
      const first = begun;
      begun += BATCH;
      const { status, body } = await connection.ask(requestOf(usage, random, first));
      if (status !== 200) throw new Error(`a batch returned ${status}: ${body.subarray(0, 300)}`);
      usage.onAcknowledged(BATCH);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
}

function requestOf(usage: Omit<Usage, 'events'>, random: Random, first: number): Buffer {
  const events = Array.from({ length: BATCH }, (_, at) => eventOf(usage, random, first + at));
  const body = `{"events":[${events.join(',')}]}`;
  const head = [
    'POST /api/v1/usage/events/batch HTTP/1.1',
    `Host: ${new URL(usage.origin).host}`,
    `Authorization: Bearer ${usage.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

/** Some customers use hundreds of times as much as most; each of them has used something. */
function eventOf({ customers, nowMs }: Omit<Usage, 'events'>, random: Random, number: number): string {
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
