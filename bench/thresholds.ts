/**
 * `npm run bench:thresholds`: how long it takes from the response to an event until the threshold that it
 * crosses is in the outbox, while other usage comes at a fixed rate. Prints and stores figures; asserts
 * nothing. `-- --rate N` events per second, `-- --customers N` that they are of, `-- --scenario NAME` says
 * what those have: `none`, `budgets`, `rates`, `property-rates`.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { type Api, callDone } from '../tests/support/api.ts';
import type { Instance } from '../tests/support/instance.ts';
import { runLoad } from '../tests/support/load-run.ts';
import { severalAtOnce } from '../tests/support/several-at-once.ts';
import { withClient } from '../tests/support/with-client.ts';
import type { World } from '../tests/support/world.ts';
import { instanceCosts, measureInstance, microsSince } from './measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { spreadOf } from './samples.ts';

const OPTIONS = {
  rate: { type: 'string', default: '20000' },
  customers: { type: 'string', default: '1000' },
  seconds: { type: 'string', default: '40' },
  scenario: { type: 'string', default: 'budgets' },
} as const;
const CONNECTIONS = 4;
const PROBE_EVERY_MS = 100;
const LOOK_EVERY_MS = 25;
const LAST_PATIENCE_MS = 30_000;
const SPREAD_MS = 60_000;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const scenarios = Object.keys(SCENARIOS);
  if (!scenarios.includes(values.scenario)) {
    throw new Unusable(`--scenario ${values.scenario} is none of ${scenarios.join(', ')}`);
  }
  const customers = numberOption('customers', values.customers, OF_A_SCRIPT.count);
  const durationMs = 1_000 * numberOption('seconds', values.seconds, OF_A_SCRIPT.seconds);
  const rate = numberOption('rate', values.rate, OF_A_SCRIPT.rate);
  await measureInstance(8, async ({ instance, api }) => {
    const world = await makeScenario(api, customers, values.scenario);
    const probes = await makeProbes(api, Math.floor(durationMs / PROBE_EVERY_MS));
    const before = instanceCosts(instance);
    const [seen, { acknowledged, latencyMs }, sent] = await Promise.all([
      watchOutbox(instance, probes.length),
      background(instance, world, { rate, durationMs }),
      sendProbes(api, probes),
    ]);
    const perEvent = (micros: number) => Math.round((micros / acknowledged) * 100) / 100;
    const cpuMicrosPerEvent = microsSince(before, instanceCosts(instance), perEvent);
    const all = probes.map((id) => (seen.get(id) ?? Number.NaN) - (sent.get(id) ?? Number.NaN));
    const times = all.filter((ms) => !Number.isNaN(ms));
    const figures = {
      ...values,
      acknowledged,
      responseMs: latencyMs,
      cpuMicrosPerEvent,
      crossings: times.length,
      ofProbes: probes.length,
      fromResponseToOutboxMs: spreadOf(times, Math.round),
    };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('thresholds', figures)}\n`);
  });
}

/** What their meter is priced by. */
const SCENARIOS: Record<string, object> = {
  budgets: {},
  none: {},
  rates: { creditRate: 2 },
  'property-rates': { creditRates: { property: 'cached', rates: { true: 1, false: 3 } } },
};

async function makeScenario(api: Api, count: number, scenario: string): Promise<World> {
  const key = 'background';
  await callDone(api, 'POST', '/meters', { key, name: key, aggregation: 'sum', ...SCENARIOS[scenario] });
  const customers: World['customers'] = [];
  await each(count, async (number) => {
    const id = await makeCustomer(api, number);
    if (scenario === 'budgets') {
      await callDone(api, 'PUT', `/customers/${id}/budgets/${key}`, {
        soft: 900_000_000,
        hard: 1_000_000_000,
      });
    }
    customers.push({ id, name: '', email: '', weight: 1 });
  });
  return { customers, meters: [{ key, aggregation: 'sum', declared: true, id: '' }] };
}

/** Customers of whom one event each crosses a threshold. */
async function makeProbes(api: Api, count: number): Promise<string[]> {
  await callDone(api, 'POST', '/meters', { key: 'probe', name: 'Probe', aggregation: 'sum' });
  const probes: string[] = [];
  await each(count, async (number) => {
    const id = await makeCustomer(api, number);
    await callDone(api, 'PUT', `/customers/${id}/budgets/probe`, { hard: 1 });
    probes.push(id);
  });
  return probes;
}

async function makeCustomer(api: Api, number: number): Promise<string> {
  const { id } = await callDone(api, 'POST', '/customers', { name: `C ${number}`, email: 'c@example.com' });
  return String(id);
}

function each(count: number, act: (number: number) => Promise<void>): Promise<void> {
  return severalAtOnce(Array(count).keys(), 8, act);
}

/** When each was acknowledged. */
async function sendProbes(api: Api, probes: readonly string[]): Promise<Map<string, number>> {
  const sent = new Map<string, number>();
  for (const customerId of probes) {
    const startedAt = performance.now();
    const body = { customerId, meterId: 'probe', value: 1, idempotencyKey: customerId };
    await callDone(api, 'POST', '/usage/events', body);
    sent.set(customerId, performance.now());
    await pass(Math.max(0, PROBE_EVERY_MS - (performance.now() - startedAt)));
  }
  return sent;
}

/** When each customer's first threshold was seen in the outbox, in another connection. */
function watchOutbox({ postgresUrl }: Instance, count: number): Promise<Map<string, number>> {
  return withClient(postgresUrl(), async (client) => {
    const seen = new Map<string, number>();
    let changedAt = performance.now();
    while (seen.size < count && performance.now() - changedAt < LAST_PATIENCE_MS) {
      const { rows } = await client.query<{ id: string }>(
        `SELECT object_id AS id FROM webhook_events
          WHERE type = 'usage.threshold' AND created_at > now() - interval '20 s'`,
      );
      const now = performance.now();
      for (const { id } of rows) {
        if (seen.has(id)) continue;
        seen.set(id, now);
        changedAt = now;
      }
      await pass(LOOK_EVERY_MS);
    }
    return seen;
  });
}

function background(
  instance: Instance,
  world: World,
  { rate, durationMs }: { rate: number; durationMs: number },
) {
  const to = { origin: instance.origin, key: instance.keys().live.secret, connections: CONNECTIONS };
  return runLoad({ ...to, world, rate, durationMs, nowMs: Date.now(), spreadMs: SPREAD_MS });
}

await runScript('bench:thresholds', main);
