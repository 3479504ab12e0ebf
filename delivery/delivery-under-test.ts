import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { onTestFinished, vi } from 'vitest';
import { sealWebhookSecret } from '../domain/webhook-secrets.ts';
import type { Clock } from '../infra/ports/clock.ts';
import { newId } from '../schemas/primitives/ids.ts';
import { SILENT } from '../tests/support/silent-log.ts';
import { testWorkspace } from '../tests/support/test-pool.ts';
import type { Attempt, SendRequest } from './send/send.ts';
import { type Delivery, startDelivery } from './start-delivery.ts';

const SEALING_KEY = Buffer.alloc(32, 7);
const WAIT = { timeout: 15_000, interval: 10 };
/** The time that the stopped clock of a test shows. */
export const START_MS = Date.UTC(2026, 0, 31);

/** How attempts end, by the last part of the url. A promise lasts as long as the attempt. */
export type Script = (request: SendRequest) => Partial<Attempt> | Promise<Partial<Attempt>>;

export interface SentRequest extends SendRequest {
  atMs: number;
}

/** An installation of its own with one environment, a stopped clock and a scripted sender. */
export async function deliveryUnderTest(script: Script = () => ({})) {
  const { pool, url, keys, environment } = await testWorkspace();
  const clock = standingClock();
  const sent: SentRequest[] = [];
  const world = { pool, clock, sent, script, running: [] as Delivery[], registry: new Registry() };
  onTestFinished(async () => {
    await Promise.all(world.running.map((one) => one.close()));
  });
  return {
    pool,
    url,
    environment,
    testEnvironment: `${keys.workspaceId}:test`,
    clock,
    sent,
    /** The requests to an endpoint, in the order in which they were sent. */
    sentTo: (name: string) => sent.filter(({ url }) => url.endsWith(`/${name}`)),
    run: (options: RunOptions = {}) => runDelivery(world, options),
    endpoint: (fields: Partial<NewEndpoint> = {}) => addEndpoint(world, { environment, ...fields }),
    event: (fields: Partial<NewEvent> = {}) => addEvents(world, { environment, ...fields }),
    deliveries: () => readDeliveries(pool),
    async row(endpointId: string) {
      const { rows } = await pool.query('SELECT * FROM webhook_endpoints WHERE id = $1', [endpointId]);
      return rows[0];
    },
    async metric(name: string) {
      const metric = await world.registry.getSingleMetric(`metergate_webhook_${name}`)?.get();
      return metric?.values;
    },
  };
}

export type DeliveryUnderTest = Awaited<ReturnType<typeof deliveryUnderTest>>;

interface World {
  pool: Pool;
  clock: Clock;
  sent: SentRequest[];
  script: Script;
  running: Delivery[];
  registry: Registry;
}

interface RunOptions {
  owner?: string;
  pollMs?: number;
  /** In place of the world's. */
  pool?: Pool;
}

/** One more process. */
function runDelivery(world: World, { owner, pollMs = 20, pool = world.pool }: RunOptions): Delivery {
  const { clock, sent, script, running } = world;
  const first = running.length === 0;
  const delivery = startDelivery(
    {
      pool,
      clock,
      log: SILENT,
      send: {
        async send(request) {
          sent.push({ ...request, atMs: clock.nowMs() });
          return { outcome: 'succeeded', durationMs: 1, requestHead: 'POST', ...(await script(request)) };
        },
        close: async () => undefined,
      },
      random: () => 0.5,
      metrics: first ? world.registry : new Registry(),
      sealingKey: SEALING_KEY,
      privateTargets: 'all',
    },
    { owner: owner ?? `owner-${running.length}`, pollMs, recordWithinMs: WAIT.timeout },
  );
  running.push(delivery);
  return delivery;
}

interface NewEndpoint {
  environment: string;
  /** The last part of its url. */
  name: string;
  events: string[];
  status: 'enabled' | 'disabled';
  createdAt: Date;
}

async function addEndpoint({ pool }: World, fields: Partial<NewEndpoint> & { environment: string }) {
  const id = newId('we');
  const { environment, name = 'hook', events = ['*'], status = 'enabled', createdAt = new Date(0) } = fields;
  const secret = sealWebhookSecret('whsec_dGVzdA==', { environment, endpointId: id }, SEALING_KEY);
  await pool.query(
    `INSERT INTO webhook_endpoints (id, environment, url, events, status, secret, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
    [id, environment, `https://receiver.example/${name}`, events, status, secret, createdAt],
  );
  return id;
}

interface NewEvent {
  environment: string;
  type: string;
  count: number;
}

async function addEvents({ pool, clock }: World, fields: Partial<NewEvent> & { environment: string }) {
  const { environment, type = 'customer.created', count = 1 } = fields;
  const ids = Array.from({ length: count }, () => newId('evt'));
  await pool.query(
    `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at)
     SELECT id, $1, $2, 'cus_a', '{"id":"' || id || '"}', $3 FROM unnest($4::text[]) AS new (id)`,
    [environment, type, new Date(clock.nowMs()), ids],
  );
  return ids;
}

export interface StoredDelivery {
  id: string;
  endpointId: string;
  eventId: string;
  state: string;
  attempts: number;
  /** While it waits. */
  dueAtMs: number | null;
  owner: string | null;
}

async function readDeliveries(pool: Pool): Promise<StoredDelivery[]> {
  const { rows } = await pool.query<StoredDelivery>(
    `SELECT d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.state, d.attempts, q.owner,
            (extract(epoch FROM q.due_at) * 1000)::bigint AS "dueAtMs"
       FROM webhook_deliveries d LEFT JOIN webhook_queue q ON q.delivery_id = d.id
      ORDER BY d.created_at, d.event_id, d.endpoint_id`,
  );
  return rows;
}

function standingClock(): Clock & { ms: number } {
  const clock = { ms: START_MS, nowMs: () => clock.ms, monotonicMs: () => performance.now() };
  return clock;
}

/** Waits for what must come about, and fails with what is there instead. */
export function soon(expectation: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(expectation, WAIT);
}
