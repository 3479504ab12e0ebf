import { callDone } from '../../tests/support/api.ts';
import { spreadOf, timed } from '../samples.ts';
import type { Measured } from './goals.ts';
import { rounded } from './paired.ts';
import { type Scenario, waitForAll } from './scenario.ts';
import { sendShape } from './shape-events.ts';

export interface EdgeFigures {
  /** Stored in all. */
  events: number;
  /** Of the customer, in the hour that is read event by event. */
  inTheHour: number;
  counterMs: Record<'p50' | 'p99' | 'samples', number>;
}

const HOUR_MS = 3_600_000;
/** Behind it are as many whole hours as events are spread over, but for a day. */
const EDGE_BEHIND_MS = 19 * 24 * HOUR_MS;
/** A busy hour of a customer that has a tenth of ten million events within a day. */
const EDGE_EVENTS = 50_000;
const GOAL_EVENTS = 10_000_000;
/** Sizes are hit give or take a few batches. */
const NEARLY = 0.95;

/** G16: a counter whose period begins within an hour: the rest of that hour is summed event by event. */
export async function edgeCounter(scenario: Scenario, events: number, samples: number): Promise<EdgeFigures> {
  const { api, instance, meterKey } = scenario;
  // Not the first: that one's counter is measured without an edge.
  const customer = scenario.customers[1] ?? '';
  const hour = Math.floor((Date.now() - EDGE_BEHIND_MS) / HOUR_MS) * HOUR_MS;
  const subscription = await subscribe(scenario, customer, hour + 1_000);
  await sendShape({
    origin: instance.origin,
    key: instance.keys().live.secret,
    customers: [customer],
    meters: [meterKey],
    spreadMs: HOUR_MS - 1_000,
    events: EDGE_EVENTS,
    nowMs: hour + HOUR_MS - 1,
    keyPrefix: 'edge',
  });
  await waitForAll(scenario);
  const path = `/usage/${customer}/${meterKey}?consistency=eventual`;
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    times.push(await timed(() => callDone(api, 'GET', path)));
  }
  // What is loaded later would be compared with this customer's limit.
  await callDone(api, 'POST', `/subscriptions/${subscription}/cancel`, { at: 'now' });
  const { p50, p99 } = spreadOf(times, rounded);
  return { events, inTheHour: EDGE_EVENTS, counterMs: { p50, p99, samples } };
}

/** The customer's period then begins at that time. Gives the subscription's id. */
async function subscribe({ api, meterKey }: Scenario, customerId: string, startMs: number): Promise<string> {
  const feature = { key: meterKey, name: 'Bench', type: 'metered', meterKey };
  await callDone(api, 'POST', '/features', feature);
  const { id: planId } = await callDone(api, 'POST', '/plans', { productId: 'bench', name: 'Bench' });
  const entitlements = [{ featureKey: meterKey, value: 1e9 }];
  await callDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
  const currentPeriodStart = new Date(startMs).toISOString();
  const { id } = await callDone(api, 'POST', '/subscriptions', { customerId, planId, currentPeriodStart });
  return String(id);
}

export function judgedEdge({ events, inTheHour, counterMs }: EdgeFigures): Measured {
  const isSmaller = events < GOAL_EVENTS * NEARLY;
  const note = `on ${events} events, at least ${inTheHour} of them in the hour; p99 ${counterMs.p99} ms`;
  return { id: 'G16', value: counterMs.p50, by: 'p50', isSmaller, note };
}
