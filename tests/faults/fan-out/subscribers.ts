import { Client } from 'pg';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../../infra/platform/endpoints-file.ts';
import type { Instance } from '../../support/instance.ts';

/** Many subscribers of one plan, and their notifications, as the database has them. */
export interface Subscribers {
  /** Each with one subscription, as they would have come over a month. */
  insert(planId: string, many: number): Promise<void>;
  /** A time before which everything that exists was notified. */
  lastEvent(): Promise<Date>;
  /** What was notified since then, and how many changes still wait. Rejects while Postgres is unavailable. */
  notified(since: Date): Promise<NotifiedSince>;
  /** The last notifications of some of them. */
  notifiedValues(many: number, from: number): Promise<Array<{ customerId: string; notified: object }>>;
}

export interface NotifiedSince {
  events: number;
  waiting: number;
  features: Array<{ featureKey: string; events: number; customers: number }>;
}

type Ask = <Row extends object>(sql: string, values: unknown[]) => Promise<Row[]>;

export function openSubscribers({ dataDir, keys }: Instance): Subscribers {
  const environment = `${keys().workspaceId}:live`;
  const ask = askAt(dataDir);
  return {
    insert: (planId, many) => insertSubscribers(ask, environment, { planId, many }),

    async lastEvent() {
      const [row] = await ask<{ last: Date | null }>(
        'SELECT max(created_at) AS last FROM webhook_events WHERE environment = $1',
        [environment],
      );
      return row?.last ?? new Date(0);
    },

    notified: (since) => readNotified(ask, environment, since),
    notifiedValues: (many, from) => readNotifiedValues(ask, environment, { many, from }),
  };
}

/** A connection each time: the server may have been killed meanwhile, and be at another port. */
function askAt(dataDir: string): Ask {
  return async function ask<Row extends object>(sql: string, values: unknown[]): Promise<Row[]> {
    const endpoints = readEndpoints(dataDirAt(dataDir).endpoints);
    const client = new Client({
      connectionString: endpoints?.postgresUrl ?? '',
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}

async function insertSubscribers(
  ask: Ask,
  environment: string,
  { planId, many }: { planId: string; many: number },
): Promise<void> {
  await ask(
    `INSERT INTO customers (id, environment, name, email, created_at, updated_at)
     SELECT 'cus_' || translate(md5(n::text), '0189', 'wxyz'), $1, 'Customer ' || n,
            'customer' || n || '@example.com', at, at
       FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * interval '50 s') AS time (at)`,
    [environment, many],
  );
  await ask(
    `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, anchor,
       current_period_start, current_period_end, interval_count, starts_at, created_at, updated_at)
     SELECT 'sub_' || substr(id, 5), $1, id, $2, 'active', created_at, created_at, created_at,
            created_at + interval '2 months', 2, created_at, created_at, created_at
       FROM customers WHERE environment = $1`,
    [environment, planId],
  );
  await ask('ANALYZE customers, subscriptions', []);
}

async function readNotified(ask: Ask, environment: string, since: Date): Promise<NotifiedSince> {
  const [row] = await ask<{ events: string; waiting: string }>(
    `SELECT (SELECT count(*) FROM webhook_events
              WHERE environment = $1 AND created_at > $2 AND type = 'entitlement.changed') AS events,
            (SELECT count(*) FROM fanout_jobs) AS waiting`,
    [environment, since],
  );
  const [events, waiting] = [Number(row?.events), Number(row?.waiting)];
  if (waiting > 0) return { events, waiting, features: [] };
  const features = await ask<{ featureKey: string; events: number; customers: number }>(
    `SELECT body::json -> 'data' ->> 'featureKey' AS "featureKey", count(*)::int AS events,
            count(DISTINCT object_id)::int AS customers
       FROM webhook_events
      WHERE environment = $1 AND created_at > $2 AND type = 'entitlement.changed' GROUP BY 1`,
    [environment, since],
  );
  return { events, waiting, features };
}

function readNotifiedValues(
  ask: Ask,
  environment: string,
  { many, from }: { many: number; from: number },
): Promise<Array<{ customerId: string; notified: object }>> {
  return ask(
    `SELECT object_id AS "customerId",
            json_object_agg(key, value ORDER BY key) FILTER (WHERE value::text <> 'false') AS notified
       FROM (SELECT DISTINCT ON (object_id, data ->> 'featureKey')
                    object_id, data ->> 'featureKey' AS key, data -> 'effectiveValue' AS value
               FROM webhook_events, LATERAL (SELECT body::json -> 'data' AS data) AS envelope
              WHERE environment = $1 AND type = 'entitlement.changed' AND object_id IN (
                      SELECT id FROM customers WHERE environment = $1 ORDER BY id OFFSET $3 LIMIT $2)
              ORDER BY object_id, data ->> 'featureKey', created_at DESC) AS last
      GROUP BY object_id`,
    [environment, many, from],
  );
}
