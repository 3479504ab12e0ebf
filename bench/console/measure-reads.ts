import type { Api } from '../../tests/support/api.ts';
import { instanceCosts, microsSince } from '../measure-instance.ts';
import { spreadOf, timed, toOneDigit } from '../samples.ts';
import { METERS } from './catalogue.ts';
import type { LargeInstallation } from './large-installation.ts';
import { loadNow } from './load-now.ts';

const SAMPLES = 100;
/** Fewer samples where all would take longer, but a few in any case. */
const READ_MS_MAX = 15_000;
const SAMPLES_MIN = 5;
const PAGES_MAX = 1_000;
const DAY_MS = 86_400_000;

function readsOf(customerId: string): Record<string, string> {
  const levels = '/usage/levels?above=0.8';
  const meter = `/meters/${METERS.limited}/usage?consistency=eventual`;
  const [month, days] = [spanOf(Date.now()), spanOf(Math.ceil(Date.now() / DAY_MS) * DAY_MS)];
  return {
    levels,
    levelsOfAFeature: `${levels}&featureKey=${METERS.limited}`,
    levelsPageOf1000: `${levels}&limit=1000`,
    customersFirstPage: '/customers',
    customersLastPage: '/customers?page=5000',
    customersSearchOfOne: '/customers?q=customer-0077777@',
    customersSearchOfAll: '/customers?q=customer',
    customersSearchOfNone: '/customers?q=nothing%20like%20it',
    customer: `/customers/${customerId}`,
    entitlements: `/entitlements/${customerId}`,
    counters: `/usage/${customerId}?consistency=eventual`,
    cost: `/customers/${customerId}/cost`,
    subscriptions: '/subscriptions',
    changes: '/audit-log',
    changesOfOne: `/audit-log?objectId=${customerId}`,
    meterByDay: `${meter}&${days}&granularity=day`,
    meterByDayFromNow: `${meter}&${month}&granularity=day`,
    meterByCustomer: `${meter}&${days}&groupBy=customerId&limit=4`,
    meterByCustomerAndDay: `${meter}&${days}&groupBy=customerId&granularity=day&limit=4`,
    meterByProperty: `${meter}&${days}&groupBy=region&granularity=day&limit=4`,
  };
}

/** Thirty days up to then. */
function spanOf(toMs: number): string {
  const [from, to] = [toMs - 30 * DAY_MS, toMs].map((ms) => new Date(ms).toISOString());
  return `from=${from}&to=${to}`;
}

/** One request after the other; the control side and Postgres are judged by CPU as well. */
export async function measureReads(installation: LargeInstallation): Promise<Record<string, object>> {
  const figures: Record<string, object> = {};
  for (const [name, path] of Object.entries(readsOf(installation.customers[0] ?? ''))) {
    const read = () => readOnce(installation.api, path);
    const turns = { most: SAMPLES, least: SAMPLES_MIN };
    figures[name] = await read()
      .then(() => measured(installation, turns, async () => [await timed(read)]))
      // A read that takes too long is a figure as well.
      .catch((error: Error) => ({ failed: error.message }));
    process.stdout.write(`${name} ${JSON.stringify(figures[name])}\n`);
  }
  const toTheEnd = () => pageTimes(installation.api, '/usage/levels?above=0&limit=1000');
  figures.levelsToTheEnd = await measured(installation, { most: 1, least: 1 }, toTheEnd);
  process.stdout.write(`levelsToTheEnd ${JSON.stringify(figures.levelsToTheEnd)}\n`);
  return figures;
}

async function measured(
  { instance }: LargeInstallation,
  turns: { most: number; least: number },
  act: () => Promise<number[]>,
): Promise<object> {
  const times: number[] = [];
  const before = instanceCosts(instance);
  const until = performance.now() + READ_MS_MAX;
  for (let turn = 0; turn < turns.most; turn += 1) {
    if (turn >= turns.least && performance.now() > until) break;
    times.push(...(await act()));
  }
  const each = (micros: number) => toOneDigit(micros / 1_000 / times.length);
  const { controlSide, postgres } = microsSince(before, instanceCosts(instance), each);
  return {
    requests: times.length,
    responseMs: spreadOf(times, toOneDigit),
    cpuMs: { controlSide, postgres },
    load: loadNow(),
  };
}

async function readOnce(api: Api, path: string): Promise<Record<string, unknown>> {
  const { status, body } = await api.call('GET', path);
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`);
  return body as Record<string, unknown>;
}

async function pageTimes(api: Api, path: string): Promise<number[]> {
  const times: number[] = [];
  let cursor: unknown;
  do {
    const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
    times.push(
      await timed(async () => {
        cursor = (await readOnce(api, path + from)).nextCursor;
      }),
    );
  } while (cursor !== undefined && times.length < PAGES_MAX);
  return times;
}
