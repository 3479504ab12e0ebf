import type { Api, ApiResponse } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';
import { startSenders } from '../../support/senders.ts';
import { untilResponse } from '../until-response.ts';
import { JOBS, type LimitedWorld } from './limited-world.ts';
import { type RatedWorld, SPENT_FIRST } from './rated-world.ts';

/** An event that was acknowledged, as its response showed it. */
export interface UsedEvent {
  customerId: string;
  meterKey: string;
  /** Decimal text. */
  value: string;
  occurredAtMs: number;
  region: string | undefined;
}

export interface UsageWorkloadOptions {
  api: Api;
  world: RatedWorld;
  limited: LimitedWorld;
  random: Random;
  /** Begins every idempotency key. */
  run: string;
  /** Gets what is acknowledged. */
  used: UsedEvent[];
}

const SENDERS = 3;
const ITEMS = 30;
const PAUSE_MS = 8;

/** Usage of every customer, on time and late, without a pause but between two requests; with its requests. */
export function startUsageWorkload(options: UsageWorkloadOptions) {
  const summary = { requests: 0, repeated: 0 };

  async function send(sender: number): Promise<void> {
    const key = `${options.run}-${sender}-${summary.requests}`;
    const items = Array.from({ length: ITEMS }, (_, at) => plannedItem(options, `${key}-${at}`));
    if (summary.requests === 0) items.push(firstItem(options));
    summary.requests += 1;
    summary.repeated += await sendUntilResponse(options, items);
  }

  return startSenders({ senders: SENDERS, pauseMs: PAUSE_MS, send, summary });
}

/** Corrections alone: within a workload concurrent usage costs more than they give back. */
export async function correctAll(options: UsageWorkloadOptions): Promise<void> {
  const items = options.limited.customers.map(({ id: customerId }, at) => {
    return { idempotencyKey: `${options.run}-corrected-${at}`, customerId, meterId: JOBS, value: -5 };
  });
  await sendUntilResponse(options, items);
}

interface Item {
  idempotencyKey: string;
  customerId: string;
  meterId: string;
  value: number;
  occurredAt?: string;
  properties?: { region: string };
}

function firstItem({ world, run }: UsageWorkloadOptions): Item {
  const customerId = world.customers[0]?.id ?? '';
  return { idempotencyKey: `${run}-first`, customerId, value: 1, ...SPENT_FIRST };
}

const DAY_MS = 86_400_000;

function plannedItem(options: UsageWorkloadOptions, idempotencyKey: string): Item {
  const { world, random } = options;
  if (random.chance(0.4)) return plannedJobs(options, idempotencyKey);
  const { id: customerId } = random.pick(world.customers);
  const meterId = random.pick(['tokens', 'calls', 'exports']);
  const value = random.pick([0.000000000001, 0.25, 1, 0.5]);
  const region = meterId === 'calls' ? random.pick(['eu', 'us', 'ap']) : undefined;
  const time = timeOf(random);
  return {
    ...{ idempotencyKey, customerId, meterId, value },
    ...(time === undefined ? {} : { occurredAt: new Date(time).toISOString() }),
    ...(region === undefined ? {} : { properties: { region } }),
  };
}

/** Jobs, and a third of corrections: now, late, and at the very times at which a limit has changed. */
function plannedJobs({ limited, random }: UsageWorkloadOptions, idempotencyKey: string): Item {
  const { id: customerId, plans } = random.pick(limited.customers);
  const value = random.pick([1, 2, 3, 4, -1, -3]);
  const item = { idempotencyKey, customerId, meterId: JOBS, value };
  if (random.chance(0.7)) return item;
  const now = Date.now();
  const changed = random.pick(plans).sinceMs - random.below(2);
  const late = limited.startMs + random.below(now - limited.startMs);
  const time = random.chance(0.3) ? Math.min(now, Math.max(changed, limited.startMs)) : late;
  return { ...item, occurredAt: new Date(time).toISOString() };
}

/** Undefined: when it comes. Late ones of this period and the ones before, up to their very bounds. */
function timeOf(random: Random): number | undefined {
  if (random.chance(0.6)) return undefined;
  const now = new Date();
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - random.below(3), 1);
  const bounds = [month - 1, month, month - 45 * DAY_MS + random.below(40 * DAY_MS)];
  return random.pick([...bounds, now.getTime() - random.below(60_000)]);
}

/** Resolves with how often it had to be sent again. */
async function sendUntilResponse({ api, used }: UsageWorkloadOptions, items: Item[]): Promise<number> {
  const body = JSON.stringify({ events: items });
  const send = () => api.call('POST', '/usage/events/batch?include=events', { body });
  const isOpen = (one: ApiResponse) => one.status === 503 || (one.status === 200 && !eventsOf(one));
  const { response, repeats } = await untilResponse(send, 'usage', isOpen);
  const events = eventsOf(response);
  if (!events) throw new Error(`usage returned ${response.status}: ${JSON.stringify(response.body)}`);
  used.push(...events.map((event, at) => usedEvent(items[at] as Item, event)));
  return repeats;
}

interface StoredEvent {
  occurredAt: string;
}

/** Undefined unless each item was stored. */
function eventsOf({ status, body }: ApiResponse): StoredEvent[] | undefined {
  const { results = [] } = (body ?? {}) as { results?: Array<{ event?: StoredEvent }> };
  const events = results.flatMap(({ event }) => event ?? []);
  return status === 200 && events.length === results.length ? events : undefined;
}

function usedEvent({ customerId, meterId, value, properties }: Item, event: StoredEvent): UsedEvent {
  return {
    customerId,
    meterKey: meterId,
    value: value === 0.000000000001 ? '0.000000000001' : String(value),
    occurredAtMs: Date.parse(event.occurredAt),
    region: properties?.region,
  };
}
