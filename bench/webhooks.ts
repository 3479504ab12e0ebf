/**
 * `npm run bench:webhooks`: how fast a backlog of deliveries drains to a receiver on the same machine, that
 * responds at once, with everything embedded, and what it costs in memory. Once with one endpoint, of which
 * five attempts run at once, and once with ten. Prints and stores figures; asserts nothing. `-- --deliveries
 * N` takes another backlog.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { type Api, callDone } from '../tests/support/api.ts';
import type { Instance } from '../tests/support/instance.ts';
import type { OpenedInstance } from '../tests/support/open-instance.ts';
import type { ProcessCost } from '../tests/support/process-cost.ts';
import { startWebhookReceiver } from '../tests/support/webhook-receiver.ts';
import { withClient } from '../tests/support/with-client.ts';
import { type InstanceCosts, instanceCosts, measureInstance, microsSince } from './measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { toOneDigit } from './samples.ts';

const OPTIONS = { deliveries: { type: 'string', default: '100000' } } as const;
/** Each of them is sent as many. */
const ENDPOINTS_MOST = 10;
const LOOK_EVERY_MS = 500;
const LOOKS_PER_SAMPLE = 10;
const MEBIBYTE = 1024 ** 2;
const PATIENCE_MS = 600_000;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const deliveries = numberOption('deliveries', values.deliveries, OF_A_SCRIPT.count);
  if (deliveries % ENDPOINTS_MOST !== 0)
    throw new Unusable(`--deliveries is a multiple of ${ENDPOINTS_MOST}`);
  const runs: Record<string, object> = {};
  for (const endpoints of [1, ENDPOINTS_MOST]) {
    const run = await drain({ deliveries, endpoints });
    runs[`${endpoints} endpoints`] = run;
    process.stdout.write(`${endpoints} endpoints ${JSON.stringify(run, undefined, 2)}\n`);
  }
  process.stdout.write(`${keepResult('webhooks', { deliveries, runs })}\n`);
}

interface Plan {
  deliveries: number;
  endpoints: number;
}

/** All events are committed at once: nothing is sent before, and everything waits from then on. */
async function drain({ deliveries, endpoints }: Plan): Promise<object> {
  const received = new Set<string>();
  let doubled = 0;
  const receiver = await startWebhookReceiver({
    onEvent({ endpoint, eventId }) {
      const one = `${endpoint} ${eventId}`;
      if (received.has(one)) doubled += 1;
      received.add(one);
      return { status: 200 };
    },
  });
  const measure = async ({ instance, api }: OpenedInstance) => {
    for (let n = 0; n < endpoints; n += 1) await register(api, receiver.url(String(n)));
    const before = instanceCosts(instance);
    const committedAt = await insertEvents(instance, deliveries / endpoints);
    const samples: Sample[] = [];
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (let looks = 1; received.size < deliveries; looks += 1) {
      if (Date.now() > giveUpAt) throw new Error(`${received.size} of ${deliveries} arrived in time`);
      await pass(LOOK_EVERY_MS);
      if (looks % LOOKS_PER_SAMPLE === 0) samples.push(sampleOf(instance, received.size));
    }
    const seconds = (performance.now() - committedAt) / 1_000;
    await pass(4 * LOOK_EVERY_MS);
    return figures({ deliveries, doubled, seconds, before, after: instanceCosts(instance), samples });
  };
  const environment = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  return await measureInstance(1, measure, environment).finally(() => receiver.close());
}

async function register(api: Api, url: string): Promise<void> {
  await callDone(api, 'POST', '/webhooks/endpoints', { url, events: ['*'] });
}

/** Envelopes as a change of a customer makes them. Gives when they were committed. */
function insertEvents({ postgresUrl, keys }: Instance, count: number): Promise<number> {
  const { workspaceId } = keys();
  return withClient(postgresUrl(), async (client) => {
    await client.query(
      `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at)
       SELECT id, $1, 'customer.created', 'cus_a',
              '{"id":"' || id || '","type":"customer.created","workspace_id":"' || $2
              || '","created_at":"2026-01-01T00:00:00.000Z","data":{"customerId":"cus_' || md5(id)
              || '","customerName":"Customer ' || id || '","customerEmail":"' || id || '@example.com"}}',
              now()
         FROM generate_series(1, $3::int) AS n, LATERAL (SELECT 'evt_' || md5(n::text)) AS made (id)`,
      [`${workspaceId}:live`, workspaceId, count],
    );
    return performance.now();
  });
}

interface Sample {
  received: number;
  controlSideMib: number;
  postgresMib: number;
}

function sampleOf(instance: Instance, received: number): Sample {
  const { controlSide, postgres } = instanceCosts(instance);
  return { received, controlSideMib: mebibytes(controlSide), postgresMib: mebibytes(postgres) };
}

interface Measured {
  deliveries: number;
  doubled: number;
  seconds: number;
  before: InstanceCosts;
  after: InstanceCosts;
  samples: Sample[];
}

function figures({ deliveries, doubled, seconds, before, after, samples }: Measured): object {
  const perDelivery = (micros: number) => Math.round(micros / deliveries);
  const { controlSide, postgres } = microsSince(before, after, perDelivery);
  return {
    deliveriesPerSecond: Math.round(deliveries / seconds),
    seconds: toOneDigit(seconds),
    receivedTwice: doubled,
    cpuMicrosPerDelivery: { controlSide, postgres },
    controlSideMib: { before: mebibytes(before.controlSide), after: mebibytes(after.controlSide) },
    samples,
  };
}

function mebibytes({ rssBytes }: ProcessCost): number {
  return Math.round(rssBytes / MEBIBYTE);
}

await runScript('bench:webhooks', main);
