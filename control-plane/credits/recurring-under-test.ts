import { burnCredits } from '../../domain/credits/move-credits.ts';
import type { RecurringGrant } from '../../domain/rules/recurring-credits.ts';
import { holdJob } from '../../domain/store/job-leases.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Defect } from '../../schemas/failures.ts';
import type { NewSubscription, SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import { addTestWorkspace, poolOfThisFile } from '../../tests/support/test-pool.ts';
import { moveSubscription } from '../clock/apply-due-change.ts';
import { PROCESSOR_GRACE_MS } from '../clock/processor-grace.ts';
import type { Database, RequestContext } from '../http/request-context.ts';
import { findDueSchedules, scheduleSubscribers } from '../store/credit-schedules.ts';
import { FROM_THE_START, findDueEnds, findDueRolls } from '../store/due-subscriptions.ts';
import { insertPlanCreditGrants } from '../store/plan-credit-grants.ts';
import { lockSubscription } from '../store/subscriptions.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { patchSubscription } from '../subscriptions/patch-subscription.ts';
import { catalogueUnderTest } from '../subscriptions/subscriptions-under-test.ts';
import { grantDueOf } from './credit-schedule.ts';

export const START_MS = Date.UTC(2026, 0, 31, 12);
export const DAY_MS = 86_400_000;

/** A grant with what it needs. */
export function credits(given: Partial<RecurringGrant> = {}): RecurringGrant {
  const usual = { key: 'included', amount: '100', every: 'period', priority: 100, expires: 'period_end' };
  return { ...usual, ...given } as RecurringGrant;
}

/** Subscriptions whose plans grant credits, in a database of this file, at any time that a test says. */
export async function recurringUnderTest() {
  const pool = await poolOfThisFile();
  const { environment } = await addTestWorkspace(pool);
  const catalogue = catalogueUnderTest(pool, environment);

  function at<T>(nowMs: number, work: (context: RequestContext) => Promise<T>): Promise<T> {
    return inTransaction(pool, (db: Database) => {
      const context = { db, environment, actor: 'test', operationId: 'test', nowMs };
      return work(context as RequestContext);
    });
  }

  return {
    pool,
    environment,
    customer: catalogue.customer,
    async plan(grants: readonly RecurringGrant[]): Promise<string> {
      const planId = await catalogue.plan();
      await insertPlanCreditGrants(pool, { planId, version: 1 }, { creditGrants: grants, nowMs: 0 });
      return planId;
    },
    /** As the API does it for a draft's only version. */
    edit: (planId: string, grants: readonly RecurringGrant[], nowMs: number) =>
      at(nowMs, async ({ db }) => {
        await insertPlanCreditGrants(db, { planId, version: 1 }, { creditGrants: grants, nowMs });
        await scheduleSubscribers(db, environment, { planId, version: 1, dueAt: new Date(nowMs) });
      }),
    subscribe: (body: Omit<NewSubscription, 'addons'>, nowMs = START_MS) =>
      at(nowMs, (context) => createSubscription(context, { body, bodyText: JSON.stringify(body) })),
    patch: (id: string, body: SubscriptionPatch, nowMs: number) =>
      at(nowMs, async (context) => {
        const row = await lockSubscription(context.db, environment, id);
        if (!row) throw new Defect(`there is no subscription ${id}`);
        return patchSubscription(context, row, { body, bodyText: JSON.stringify(body) });
      }),
    /** The subscription clock and the schedule of grants have done all that is due by then. */
    async pass(nowMs: number): Promise<void> {
      const now = new Date(nowMs);
      const epoch = await holdJob(pool, 'test', 'test', 60_000);
      if (epoch === undefined) throw new Defect('another process has the lease of the test');
      const turn = { pool, job: 'test', epoch };
      const ends = await findDueEnds(pool, { now, graceMs: PROCESSOR_GRACE_MS }, FROM_THE_START, 1_000);
      const rolls = await findDueRolls(pool, now, FROM_THE_START, 1_000);
      for (const due of [...ends, ...rolls]) await moveSubscription({ ...turn, nowMs }, due);
      for (const due of await findDueSchedules(pool, now, { except: [], limit: 1_000 })) {
        await grantDueOf(turn, due, nowMs);
      }
    },
    burn: (customerId: string, amount: string, nowMs: number) =>
      inTransaction(pool, (db) => {
        const place = { environment, customerId, meterKey: 'calls', periodStart: new Date(START_MS) };
        return burnCredits(db, { nowMs, burns: [{ ...place, amount }] });
      }),
    /** A subscription that no later pass looks at. */
    end: (id: string, nowMs: number) =>
      at(nowMs, async (context) => {
        const row = await lockSubscription(context.db, environment, id);
        if (row) await patchSubscription(context, row, { body: { status: 'canceled' }, bodyText: '{}' });
      }),
    /** As the settlement writes it: what usage has cost. */
    async settleBurns(): Promise<void> {
      await pool.query(
        `INSERT INTO credit_burns (environment, customer_id, meter_key, span_from, span_to, version, label,
                                   burned)
         SELECT environment, customer_id, meter_key, min(period_start), 'infinity', 1, '',
                sum(unpaid - amount)
           FROM credit_ledger WHERE type = 'burn' GROUP BY 1, 2, 3`,
      );
    },
    /** Of one customer, as text: key, start and end of the period, amount, what is left, what had lapsed. */
    async grants(customerId: string): Promise<string[]> {
      const { rows } = await pool.query<{ text: string }>(
        `SELECT concat_ws(' ', grant_key || part, ${day('period_start')}, coalesce(${day('expires_at')}, '-'),
                          trim_scale(amount), trim_scale(remaining), trim_scale(lapsed)) AS text
           FROM credit_grants WHERE customer_id = $1 ORDER BY period_start, grant_key, part`,
        [customerId],
      );
      return rows.map(({ text }) => text);
    },
    async wallet(customerId: string): Promise<string> {
      const { rows } = await pool.query(
        `SELECT trim_scale(balance) || ' ' || trim_scale(unpaid) AS text
           FROM credit_wallets WHERE customer_id = $1`,
        [customerId],
      );
      return rows[0]?.text ?? '0 0';
    },
  };
}

function day(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'MM-DD')`;
}
