import { isDeepStrictEqual } from 'node:util';
import { type Api, callDone } from '../../support/api.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { Random } from '../../support/random.ts';
import { judgeCustomer, type NotifiedRow } from '../changes/stored-changes.ts';
import type { FaultOptions, FaultPromise, Form, Round, RoundReport } from '../promise.ts';
import { postgresUrlOf, queryPostgres } from '../query-postgres.ts';

/**
 * A plan with many subscribers changes, and the process that notifies them is killed meanwhile. Each one is
 * notified once of each feature that changed, and in time; the change itself gets its response at once.
 */
export const fanoutKilled: FaultPromise = {
  promises: [22],
  title: 'a plan with many subscribers changes, and the notifying process is killed',
  rounds: { short: 1, long: 12 },
  async open({ form, onEnd }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 });
    onEnd(close);
    const subscribers = openSubscribers(instance);
    const planId = await makePlan(api);
    await subscribers.insert(planId, SIZES[form].subscribers);
    const scenario = { instance, api, subscribers, planId, form };
    return { round: (round) => fanoutRound(scenario, round) };
  },
};

/**
 * The long form is the promise: 50,000, 200 ms and 60 s. The short one runs concurrently with other tests,
 * whatever the machine has to do meanwhile.
 */
const SIZES = {
  short: { subscribers: 5_000, responseMs: 2_000 },
  long: { subscribers: 50_000, responseMs: 200 },
};
const ALL_NOTIFIED_MS = 60_000;
/** By turns; the first of the long form is an undisturbed one. */
const VICTIMS: Record<Form, ReadonlyArray<Role | undefined>> = {
  short: ['control side'],
  long: [undefined, 'control side', 'control side', 'postgres'],
};
const OVER = { timeoutMs: 2 * ALL_NOTIFIED_MS, everyMs: 100 };
const FEATURES = ['fanout-flag', 'fanout-limit'];

interface Scenario extends Pick<FaultOptions, 'form'> {
  instance: Instance;
  api: Api;
  subscribers: Subscribers;
  planId: string;
}

async function fanoutRound(scenario: Scenario, { number, random }: Round): Promise<RoundReport> {
  const { instance, api, subscribers, planId, form } = scenario;
  const { subscribers: many, responseMs: responseMsMax } = SIZES[form];
  const victims = VICTIMS[form];
  const victim = victims[number % victims.length];
  const since = await subscribers.lastEvent();
  const startedAt = performance.now();
  const values = [number % 2 === 0, number + 1];
  const entitlements = FEATURES.map((featureKey, at) => ({ featureKey, value: values[at] }));
  await callDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
  const responseMs = Math.round(performance.now() - startedAt);
  if (victim) {
    const killAfter = 1 + random.below(many);
    const isThere = async () => (await subscribers.notified(since)).events >= killAfter || undefined;
    await seenInTime(isThere, { timeoutMs: ALL_NOTIFIED_MS, everyMs: 20 }, `${killAfter} events`);
    await instance.kill(victim);
  }
  const isOver = async () => {
    const seen = await subscribers.notified(since).catch(() => undefined);
    // The change has its response: its job exists until all are notified.
    return seen?.waiting === 0 ? seen : undefined;
  };
  const notified = await seenInTime(isOver, OVER, 'the end of the job');
  const allNotifiedMs = Math.round(performance.now() - startedAt);
  const problems = await differences(scenario, random);
  for (const one of notified.features) {
    const ought = { featureKey: one.featureKey, events: many, customers: many };
    if (!isDeepStrictEqual(one, ought)) problems.push(`${JSON.stringify(one)} and ought to be ${many} each`);
  }
  const features = notified.features.length;
  if (features !== FEATURES.length) problems.push(`${features} features were notified`);
  if (responseMs > responseMsMax) problems.push(`the change took ${responseMs} ms`);
  if (allNotifiedMs > ALL_NOTIFIED_MS) problems.push(`all were notified after ${allNotifiedMs} ms`);
  return {
    counts: { changes: 1, eventsNotified: notified.events, ...(victim ? { [`kills of ${victim}`]: 1 } : {}) },
    peaks: { responseMs, [victim ? 'allNotifiedMsWithAKill' : 'allNotifiedMs']: allNotifiedMs },
    problems,
  };
}

const SAMPLES = 20;

/** The last notifications of some of them, compared with what the API returns. */
async function differences({ api, subscribers }: Scenario, random: Random): Promise<string[]> {
  const rows = await subscribers.notifiedValues(SAMPLES, random.below(1_000));
  const found = await Promise.all(rows.map((row) => judgeCustomer(api, row)));
  return found.flat();
}

async function makePlan(api: Api): Promise<string> {
  for (const key of FEATURES) {
    const type = key.endsWith('flag') ? 'boolean' : 'limit';
    await callDone(api, 'POST', '/features', { key, name: key, type });
  }
  const { id } = await callDone(api, 'POST', '/plans', { name: 'Of many', productId: 'fanout' });
  await callDone(api, 'POST', `/plans/${id}/publish`);
  return String(id);
}

type Subscribers = ReturnType<typeof openSubscribers>;

/** Many subscribers of one plan, and their notifications, as the database has them. */
function openSubscribers(instance: Instance) {
  const environment = `${instance.keys().workspaceId}:live`;
  const query = <Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> => {
    return queryPostgres<Row>(postgresUrlOf(instance), sql, [environment, ...values]);
  };
  return {
    /** Each with one subscription, as they would have come over a month. */
    async insert(planId: string, many: number): Promise<void> {
      await query(INSERT_CUSTOMERS, many);
      await query(INSERT_SUBSCRIPTIONS, planId);
      await queryPostgres(postgresUrlOf(instance), 'ANALYZE customers, subscriptions');
    },

    /** What was notified since then, and how many changes still wait. */
    async notified(since: Date) {
      const [row] = await query<{ events: string; waiting: string }>(
        `SELECT (SELECT count(*) FROM webhook_events
                  WHERE environment = $1 AND created_at > $2 AND type = 'entitlement.changed') AS events,
                (SELECT count(*) FROM fanout_jobs) AS waiting`,
        since,
      );
      const [events, waiting] = [Number(row?.events), Number(row?.waiting)];
      if (waiting > 0) return { events, waiting, features: [] as FeatureCounts[] };
      const features = await query<FeatureCounts>(
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
      query<NotifiedRow>(
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
      const [row] = await query<{ last: Date | null }>(
        'SELECT max(created_at) AS last FROM webhook_events WHERE environment = $1',
      );
      return row?.last ?? new Date(0);
    },
  };
}

interface FeatureCounts {
  featureKey: string;
  events: number;
  customers: number;
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
