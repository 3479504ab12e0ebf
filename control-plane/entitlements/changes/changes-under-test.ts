import type { Pool } from 'pg';
import { expect, vi } from 'vitest';
import { findManyCustomerGrants, heldNow } from '../../../domain/find-customer-grants.ts';
import { type NotifiedValues, notifiedValues } from '../../../domain/rules/entitlement-changes.ts';
import { resolveEntitlements } from '../../../domain/rules/resolve-entitlements.ts';

/** One `entitlement.changed`, as a receiver reads it. */
export interface SentChange {
  customerId: string;
  featureKey: string;
  allowed: boolean;
  effectiveValue: boolean | number | null;
}

/** What was notified to one customer and what it is granted, by the rules alone. */
export function notifiedUnderTest(pool: Pool, environment: string) {
  /** What was notified to one customer since the previous call, or ever; by feature. */
  const events = readEvents(pool);
  return {
    /** Resolves when no change and no due time waits for the notifier any more. */
    quiet: (timeoutMs = 10_000) =>
      vi.waitFor(async () => expect(await waiting(pool)).toBe(0), { timeout: timeoutMs, interval: 20 }),

    /** All customers whose last notification differs from what they are granted now, with both. */
    async untrue(nowMs = Date.now()): Promise<object[]> {
      const notified = await notifiedOf(pool, environment);
      const question = { environment, atMs: nowMs, featureIds: 'all' as const, meterKeys: [] };
      const customers = await findManyCustomerGrants(pool, {
        ...question,
        customerIds: [...notified.keys()],
      });
      return [...notified].flatMap(([customerId, was]) => {
        const customer = customers.get(customerId);
        const is = customer ? notifiedValues(resolveEntitlements(heldNow(customer), nowMs)) : {};
        return sorted(is) === sorted(was) ? [] : [{ customerId, notified: was, granted: is }];
      });
    },

    events,

    /** The events of a change that a job notices by polling, every second or two. */
    async eventsLater(customerId: string, timeoutMs: number): Promise<SentChange[]> {
      const all: SentChange[] = [];
      await expect
        .poll(async () => all.push(...(await events(customerId))), { timeout: timeoutMs, interval: 50 })
        .toBeGreaterThan(0);
      return all;
    },
  };
}

/** The recorded terms of a customer's meter, oldest first. */
export async function termsOf(pool: Pool, customerId: string, meterKey: string) {
  const { rows } = await pool.query(
    `SELECT starts_at AS at, period_start AS period, is_unlimited AS "isUnlimited",
            ARRAY (SELECT trim_scale(amount)::text FROM unnest(limits) AS amount) AS limits,
            subscription_id AS "from"
       FROM metered_terms WHERE customer_id = $1 AND meter_key = $2 ORDER BY starts_at`,
    [customerId, meterKey],
  );
  return rows.map(({ at, period, limits, isUnlimited, from }) => ({
    at: at.getTime() as number,
    period: period.getTime() as number,
    from: from as string | null,
    limits: (isUnlimited ? ['unlimited'] : limits) as string[],
  }));
}

/** Changes of many customers that the notifier has not finished. */
export async function fanoutJobs(pool: Pool): Promise<number> {
  return (await pool.query('SELECT FROM fanout_jobs')).rowCount ?? 0;
}

async function waiting(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ waiting: number }>(
    `SELECT (SELECT count(*) FROM fanout_jobs)
          + (SELECT count(*) FROM entitlements_told WHERE next_turn <= now()) AS waiting`,
  );
  return rows[0]?.waiting ?? 0;
}

async function notifiedOf(pool: Pool, environment: string): Promise<Map<string, NotifiedValues>> {
  const { rows } = await pool.query<{ id: string; notified: NotifiedValues }>(
    `SELECT c.id, coalesce(t.told, '{}') AS notified
       FROM customers c LEFT JOIN entitlements_told t ON t.customer_id = c.id
      WHERE c.environment = $1`,
    [environment],
  );
  return new Map(rows.map(({ id, notified }) => [id, notified]));
}

function readEvents(pool: Pool) {
  const seen = new Set<string>();
  return async (customerId: string, which: 'new' | 'all' = 'new'): Promise<SentChange[]> => {
    const { rows } = await pool.query<{ id: string; body: string }>(
      `SELECT id, body FROM webhook_events WHERE type = 'entitlement.changed' AND object_id = $1`,
      [customerId],
    );
    const fresh = rows.filter(({ id }) => which === 'all' || !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    const changes = fresh.map(({ body }) => JSON.parse(body).data as SentChange);
    return changes.sort((a, b) => (a.featureKey < b.featureKey ? -1 : 1));
  };
}

function sorted(values: NotifiedValues): string {
  return JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
}
