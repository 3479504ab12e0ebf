/**
 * `npm run bench:cloud-events`: CloudEvents against our own batches, in turns on one instance. One client
 * sends both in the same way: 500 events a request, as many requests in flight, bodies made before, with the
 * same keys, customer, time, value and one property, which take a fourteenth less as a CloudEvent. CPU is
 * that of the data plane. Prints and stores figures; asserts nothing. `-- --rounds N`, `-- --requests N` of
 * either in a round.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { callDone } from '../../tests/support/api.ts';
import type { Instance } from '../../tests/support/instance.ts';
import type { OpenedInstance } from '../../tests/support/open-instance.ts';
import { processCost } from '../../tests/support/process-cost.ts';
import { measureInstance } from '../measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from '../read-options.ts';
import { keepResult } from '../result-file.ts';

const OPTIONS = {
  rounds: { type: 'string', default: '10' },
  requests: { type: 'string', default: '300' },
} as const;
const CONNECTIONS = 8;
const BATCH = 500;
const SOURCE = '@openmeter/sdk';

interface Kind {
  path: string;
  type: string;
  body(): string;
}

const KINDS: Record<'batches' | 'cloudEvents', Kind> = {
  batches: {
    path: '/api/v1/usage/events/batch',
    type: 'application/json',
    body: () => JSON.stringify({ events: eventsOf(usageEvent) }),
  },
  cloudEvents: {
    path: '/api/v1/events',
    type: 'application/cloudevents-batch+json',
    body: () => JSON.stringify(eventsOf(cloudEvent)),
  },
};

function eventsOf(eventOf: (of: { id: string; model: string; time: string }) => object): object[] {
  const time = new Date().toISOString();
  return Array.from({ length: BATCH }, (_, at) => eventOf({ id: randomUUID(), model: `m${at % 3}`, time }));
}

function usageEvent({ id, model, time }: Record<'id' | 'model' | 'time', string>): object {
  return {
    idempotencyKey: `ce:${SOURCE.length}:${id.length}:${SOURCE}:${id}:tokens`,
    ...{ customerId: 'hooli', meterId: 'tokens', value: 2, occurredAt: time, properties: { model } },
  };
}

function cloudEvent({ id, model, time }: Record<'id' | 'model' | 'time', string>): object {
  const data = { tokens: 2, model };
  return { type: 'prompt', subject: 'hooli', data, id, source: SOURCE, specversion: '1.0', time };
}

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const rounds = numberOption('rounds', values.rounds, OF_A_SCRIPT.rounds);
  const requests = numberOption('requests', values.requests, OF_A_SCRIPT.count);
  const figures = await measureInstance(1, (opened) => compare(opened, { rounds, requests }));
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('cloud-events', figures)}\n`);
}

async function compare(
  { instance, api }: OpenedInstance,
  { rounds, requests }: Record<'rounds' | 'requests', number>,
): Promise<object> {
  const eventSource = { eventType: 'prompt', valueProperty: '$.tokens', groupBy: { model: '$.model' } };
  await callDone(api, 'POST', '/meters', { key: 'tokens', name: 'T', aggregation: 'sum', eventSource });
  const customer = { name: 'Hooli', email: 'it@hooli.example', externalId: 'hooli' };
  await callDone(api, 'POST', '/customers', customer);
  const pool = new Pool(instance.origin, { connections: CONNECTIONS });
  const runs = { batches: [] as Run[], cloudEvents: [] as Run[] };
  const names = Object.keys(runs) as Array<keyof typeof runs>;
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const run = await send(instance, { pool, kind: KINDS[name], requests });
      if (round > 0) runs[name].push(run);
    }
  }
  await pool.close();
  const ratios = runs.cloudEvents.map((run, at) => ratioOf(run, runs.batches[at] ?? run));
  return {
    rounds,
    requests,
    batches: medianOf(runs.batches),
    cloudEvents: medianOf(runs.cloudEvents),
    // Of a round; above 1: CloudEvents are faster, or cost more.
    ratio: medianOf(ratios),
  };
}

interface Run {
  eventsPerSecond: number;
  cpuMicros: number;
}

async function send(
  instance: Instance,
  { pool, kind, requests }: { pool: Pool; kind: Kind; requests: number },
): Promise<Run> {
  const bodies = Array.from({ length: requests }, () => Buffer.from(kind.body()));
  const headers = { authorization: `Bearer ${instance.keys().live.secret}`, 'content-type': kind.type };
  const pid = instance.pid('data plane');
  const rest = bodies.values();
  const cpu = processCost(pid).cpuMicros;
  const from = performance.now();
  const work = async () => {
    for (const body of rest) {
      const response = await pool.request({ method: 'POST', path: kind.path, headers, body });
      await response.body.dump();
      if (response.statusCode > 204) throw new Error(`a request returned ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const ms = performance.now() - from;
  const events = requests * BATCH;
  return {
    eventsPerSecond: (events / ms) * 1_000,
    cpuMicros: (processCost(pid).cpuMicros - cpu) / events,
  };
}

function ratioOf(one: Run, other: Run): Run {
  return {
    eventsPerSecond: one.eventsPerSecond / other.eventsPerSecond,
    cpuMicros: one.cpuMicros / other.cpuMicros,
  };
}

function medianOf(runs: readonly Run[]): Run {
  const median = (of: (run: Run) => number) => {
    const sorted = runs.map(of).sort((a, b) => a - b);
    const value = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return Math.round(value * 100) / 100;
  };
  return { eventsPerSecond: median((run) => run.eventsPerSecond), cpuMicros: median((run) => run.cpuMicros) };
}

await runScript('bench:cloud-events', main);
