import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { createEntitlements } from '../../sdk/node/src/entitlements/check.ts';
import { createMeter, type MeterOptions } from '../../sdk/node/src/meter/meter.ts';
import { openSpool } from '../../sdk/node/src/spool/spool.ts';
import { EVENT, type Target } from './drain-rate.ts';

/** In microseconds, with what it costs to read the clock. */
export interface CallCost {
  p50: number;
  p99: number;
  p999: number;
  /** CPU of the process by call, all of its threads. */
  cpu: number;
}

const CALLS = 200_000;
/** Compiled by then. */
const WARM_CALLS = 20_000;
const NOWHERE = 'http://127.0.0.1:9';

/** Of `track()` without a server, a few hundred calls in a turn of the event loop. */
export async function trackCosts(): Promise<Record<string, CallCost>> {
  const costs: Record<string, CallCost> = {};
  costs.memory = await trackCost({ memory: { eventsMax: 2 * CALLS, bytesMax: 2 ** 30 } });
  for (const fsync of ['none', 'interval'] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'metergate-tracked-'));
    const spool = openSpool({ folder, fsync, bytesMax: 2 ** 30 });
    costs[`spool, fsync ${fsync}`] = await trackCost({ spool });
    rmSync(folder, { recursive: true, force: true });
  }
  return costs;
}

async function trackCost(options: Partial<MeterOptions>): Promise<CallCost> {
  const meter = createMeter({ url: NOWHERE, apiKey: 'k', onError: () => undefined, ...options });
  const cost = await costOf(() => {
    if (!meter.track({ ...EVENT })) throw new Error('an event was not taken');
  });
  await meter.close({ timeoutMs: 0 });
  return cost;
}

const CUSTOMERS = 20;

/** Of `check()` in this process, while its own usage is tracked and counted. */
export async function checkCost({ origin, keys }: Target): Promise<CallCost> {
  const to = { url: origin, apiKey: keys.live.secret };
  const client = createClient(to);
  const meter = createMeter(to);
  const entitlements = createEntitlements({ client, isLocal: true, meter });
  const names = Array.from({ length: CUSTOMERS }, (_, at) => `checked-${at}`);
  await prepareFeature(client, names);
  const checks = names.map((customerId) => ({ customerId, featureKey: 'checked', requested: 3 }));
  for (const check of checks) {
    while ((await entitlements.check(check)).source !== 'local') {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  let at = 0;
  const cost = await costOf(async () => {
    const check = checks[at++ % CUSTOMERS] ?? checks[0];
    const { source, allowed } = await entitlements.check(check as (typeof checks)[number]);
    if (source !== 'local' || !allowed) throw new Error(`${source}: ${allowed}`);
    if (at % 100 === 0)
      meter.track({ customerId: names[at % CUSTOMERS] ?? '', meterId: 'checked', value: 1 });
  });
  entitlements.close();
  await meter.close();
  return cost;
}

async function prepareFeature(
  client: ReturnType<typeof createClient>,
  names: readonly string[],
): Promise<void> {
  const key = 'checked';
  await client.meters.create({ body: { key, name: key, aggregation: 'sum' } });
  await client.features.create({ body: { key, name: key, type: 'metered', meterKey: key } });
  for (const externalId of names) {
    const body = { name: externalId, email: 'a@b.example', externalId };
    const { id: customerId } = await client.customers.create({ body });
    await client.overrides.put({ customerId, featureKey: key, body: { value: 1e9 } });
  }
}

/** One call after the other; what they wait for has its turn now and then. */
async function costOf(call: () => unknown): Promise<CallCost> {
  const micros = new Float64Array(CALLS);
  let cpuBefore = process.cpuUsage();
  for (let at = -WARM_CALLS; at < CALLS; at++) {
    if (at === 0) cpuBefore = process.cpuUsage();
    const beganAt = process.hrtime.bigint();
    const called = call();
    if (called instanceof Promise) await called;
    if (at >= 0) micros[at] = Number(process.hrtime.bigint() - beganAt) / 1_000;
    if (at % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  micros.sort();
  const share = (of: number): number => Math.round((micros[Math.floor(CALLS * of)] ?? 0) * 100) / 100;
  const cpu = Math.round(((user + system) / CALLS) * 100) / 100;
  return { p50: share(0.5), p99: share(0.99), p999: share(0.999), cpu };
}
