import type { Instance } from '../../support/instance.ts';
import { askPostgres, postgresUrlOf } from '../ask-postgres.ts';
import type { NotifiedRow } from '../changes/judge-notified.ts';

export type Subscribers = ReturnType<typeof openSubscribers>;

/** Many subscribers of one plan, and their notifications, as the database has them. */
export function openSubscribers(instance: Instance) {
  const environment = `${instance.keys().workspaceId}:live`;
  const ask = <Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> => {
    return askPostgres<Row>(postgresUrlOf(instance), sql, [environment, ...values]);
  };
  return {
    /** Each with one subscription, as they would have come over a month. */
    async insert(planId: string, many: number): Promise<void> {
      await ask(INSERT_CUSTOMERS, many);
      await ask(INSERT_SUBSCRIPTIONS, planId);
      await askPostgres(postgresUrlOf(instance), 'ANALYZE customers, subscriptions');
    },

    /** What was notified since then, and how many changes still wait. */
    async notified(since: Date): Promise<NotifiedSince> {
      const [row] = await ask<{ events: string; waiting: string }>(
        `SELECT (SELECT count(*) FROM webhook_events
                  WHERE environment = $1 AND created_at > $2 AND type = 'entitlement.changed') AS events,
                (SELECT count(*) FROM fanout_jobs) AS waiting`,
        since,
      );
      const [events, waiting] = [Number(row?.events), Number(row?.waiting)];
      if (waiting > 0) return { events, waiting, features: [] };
      const features = await ask<NotifiedSince['features'][number]>(
        `SELECT body::json -> 'data' ->> 'featureKey' AS "featureKey", count(*)::int AS events,
                count(DISTINCT object_id)::int AS customers
           FROM webhook_events
          WHERE environment = $1 AND created_at > $2 AND type = 'entitlement.changed' GROUP BY 1`,
        since,
      );
      return { events, waiting, features };
    },

    /** The last notifications of some of them. */
    notifiedValues: (many: number, from: number) =>
      ask<NotifiedRow>(
        `SELECT object_id AS "customerId",
                json_object_agg(key, value ORDER BY key) FILTER (WHERE value::text <> 'false') AS notified
           FROM (SELECT DISTINCT ON (object_id, data ->> 'featureKey')
                        object_id, data ->> 'featureKey' AS key,
                        CASE json_typeof(data -> 'effectiveValue') WHEN 'number'
                          THEN to_json(data ->> 'effectiveValue') ELSE data -> 'effectiveValue' END AS value
                   FROM webhook_events, LATERAL (SELECT body::json -> 'data' AS data) AS envelope
                  WHERE environment = $1 AND type = 'entitlement.changed' AND object_id IN (
                          SELECT id FROM customers WHERE environment = $1 ORDER BY id OFFSET $3 LIMIT $2)
                  ORDER BY object_id, data ->> 'featureKey', created_at DESC) AS last
          GROUP BY object_id`,
        many,
        from,
      ),

    /** A time before which everything that exists was notified. */
    async lastEvent(): Promise<Date> {
      const [row] = await ask<{ last: Date | null }>(
        'SELECT max(created_at) AS last FROM webhook_events WHERE environment = $1',
      );
      return row?.last ?? new Date(0);
    },
  };
}

export interface NotifiedSince {
  events: number;
  waiting: number;
  features: Array<{ featureKey: string; events: number; customers: number }>;
}

const INSERT_CUSTOMERS = `
  INSERT INTO customers (id, environment, name, email, created_at, updated_at)
  SELECT 'cus_' || translate(md5(n::text), '0189', 'wxyz'), $1, 'Customer ' || n,
         'customer' || n || '@example.com', at, at
    FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * interval '50 s') AS time (at)`;

const INSERT_SUBSCRIPTIONS = `
  INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, anchor,
    current_period_start, current_period_end, interval_count, starts_at, created_at, updated_at)
  SELECT 'sub_' || substr(id, 5), $1, id, $2, 'active', created_at, created_at, created_at,
         created_at + interval '2 months', 2, created_at, created_at, created_at
    FROM customers WHERE environment = $1`;
