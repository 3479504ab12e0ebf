/**
 * `npm run bench:thresholds`: how long it takes from the response to an event until the threshold that it
 * crosses is in the outbox, while other usage comes at a fixed rate. Prints and stores figures; asserts
 * nothing. `-- --rate N` events per second, `-- --customers N` that they are of, `-- --scenario NAME` says
 * what those have: `none`, `budgets`, `rates`, `property-rates`.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { Client } from 'pg';
import { dataDirAt } from '../infra/platform/data-dir.ts';
import { readEndpoints } from '../infra/platform/endpoints-file.ts';
import { type Api, callDone } from '../tests/support/api.ts';
import { percentile } from '../tests/support/freshness-probe.ts';
import type { Instance } from '../tests/support/instance.ts';
import { runLoad } from '../tests/support/load-run.ts';
import { openInstance } from '../tests/support/open-instance.ts';
import { familyCost, processCost } from '../tests/support/process-cost.ts';
import type { World } from '../tests/support/world.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from './read-options.ts';
import { keepResult } from './result-file.ts';

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
  const customers = numberOption('customers', values.customers, OF_A_SCRIPT.things);
  const durationMs = 1_000 * numberOption('seconds', values.seconds, OF_A_SCRIPT.seconds);
  const rate = numberOption('rate', values.rate, OF_A_SCRIPT.rate);
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 8 });
  try {
    const world = await makeScenario(api, customers, values.scenario);
    const probes = await makeProbes(api, Math.floor(durationMs / PROBE_EVERY_MS));
    const before = costs(instance);
    const watching = watchOutbox(instance, probes.length);
    const [{ acknowledged, latencyMs }, sent] = await Promise.all([
      background(instance, world, { rate, durationMs }),
      sendProbes(api, probes),
    ]);
    const seen = await watching;
    const spent = costs(instance);
    const times = probes.map((id) => (seen.get(id) ?? Number.NaN) - (sent.get(id) ?? Number.NaN));
    const microsPerEvent = Object.fromEntries(
      Object.entries(spent).map(([name, micros]) => {
        return [name, Math.round(((micros - (before[name] ?? 0)) / acknowledged) * 100) / 100];
      }),
    );
    const figures = {
      ...values,
      acknowledged,
      responseMs: latencyMs,
      cpuMicrosPerEvent: microsPerEvent,
      crossings: times.filter((ms) => !Number.isNaN(ms)).length,
      ofProbes: probes.length,
      fromResponseToOutboxMs: spread(times.filter((ms) => !Number.isNaN(ms))),
    };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('thresholds', figures)}\n`);
  } catch (error) {
    process.stderr.write(`${instance.log()}\n`);
    throw error;
  } finally {
    await close();
  }
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
    customers.push({ id, name: '', email: '', weight: 1, belowZero: false });
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

async function each(count: number, act: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const sender = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: 8 }, sender));
}

/** When each was acknowledged. */
async function sendProbes(api: Api, probes: readonly string[]): Promise<Map<string, number>> {
  const sent = new Map<string, number>();
  for (const customerId of probes) {
    const startedAt = performance.now();
    const body = { customerId, meterId: 'probe', value: 1 };
    await callDone(api, 'POST', '/usage/events', body);
    sent.set(customerId, performance.now());
    await pass(Math.max(0, PROBE_EVERY_MS - (performance.now() - startedAt)));
  }
  return sent;
}

/** When each customer's first threshold was seen in the outbox, in another connection. */
async function watchOutbox({ dataDir }: Instance, count: number): Promise<Map<string, number>> {
  const endpoints = readEndpoints(dataDirAt(dataDir).endpoints);
  const client = new Client({ connectionString: endpoints?.postgresUrl ?? '' });
  await client.connect();
  const seen = new Map<string, number>();
  try {
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
  } finally {
    await client.end();
  }
}

function background(
  instance: Instance,
  world: World,
  { rate, durationMs }: { rate: number; durationMs: number },
) {
  const { host, port } = new URL(instance.origin);
  const to = { host, port: Number(port), key: instance.keys().live.secret, connections: CONNECTIONS };
  return runLoad({ ...to, world, rate, durationMs, nowMs: Date.now(), spreadMs: SPREAD_MS });
}

function costs(instance: Instance): Record<string, number> {
  return {
    dataPlane: processCost(instance.pid('data plane')).cpuMicros,
    controlSide: processCost(instance.pid('control side')).cpuMicros,
    postgres: familyCost(instance.pid('postgres')).cpuMicros,
  };
}

function spread(times: number[]): object {
  const at = (percent: number) => Math.round(percentile(times, percent));
  return { p50: at(50), p99: at(99), max: at(100) };
}

await runScript('bench:thresholds', main);
