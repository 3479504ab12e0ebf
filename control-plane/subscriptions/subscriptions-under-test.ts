import type { Pool } from 'pg';
import { newId } from '../../schemas/primitives/ids.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

/** What subscriptions refer to, inserted directly into the tables of one environment. */
export function catalogueUnderTest(pool: Pool, environment: string) {
  let made = 0;
  const now = new Date();
  return {
    async customer(): Promise<string> {
      const id = newId('cus');
      await pool.query(
        `INSERT INTO customers (id, environment, name, email) VALUES ($1, $2, 'Ada', 'ada@example.com')`,
        [id, environment],
      );
      return id;
    },
    async plan({ status = 'published', version = 1 } = {}): Promise<string> {
      const id = newId('plan');
      await pool.query(
        `INSERT INTO products (environment, id, name, created_at) VALUES ($1, 'p', 'p', $2)
         ON CONFLICT DO NOTHING`,
        [environment, now],
      );
      await pool.query(
        `INSERT INTO plans (id, environment, key, name, product_id, status, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, 'p', $5, $6, $7, $7)`,
        [id, environment, `plan-${++made}`, `Plan ${made}`, status, version, now],
      );
      return id;
    },
    async addon(): Promise<string> {
      const id = newId('addon');
      await pool.query(
        `INSERT INTO addons (id, environment, key, name, created_at, updated_at)
         VALUES ($1, $2, $3, 'Seats', $4, $4)`,
        [id, environment, `addon-${++made}`, now],
      );
      return id;
    },
  };
}

/** Minutes from now as a timestamp; negative numbers are in the past. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

/** Subscriptions of the live environment over HTTP, and the events and audit entries of them. */
export function subscriptionsUnderTest(api: ApiUnderTest) {
  const catalogue = catalogueUnderTest(api.pool, api.environment);
  const notified = (objectId: string) => emittedEvents(api.pool, objectId);

  /** With these fields, and a separate customer and plan unless they are given. */
  async function subscribe(fields: Record<string, unknown> = {}) {
    const customerId = fields.customerId ?? (await catalogue.customer());
    const planId = fields.planId ?? (await catalogue.plan());
    return api.request('subscriptions.create', { body: { customerId, planId, ...fields } });
  }

  return {
    ...catalogue,
    subscribe,
    /** In any status, also one that the API does not create. */
    async subscribed(status: string) {
      const { body } = await subscribe();
      await api.pool.query(
        `UPDATE subscriptions SET status = $2, trial_end = now() + interval '1 day',
           canceled_at = CASE WHEN $2 = 'canceled' THEN now() END WHERE id = $1`,
        [body.id, status],
      );
      return body;
    },
    patch: (subscriptionId: string, body: object, headers: Record<string, string> = {}) =>
      api.request('subscriptions.update', { params: { subscriptionId }, body, headers }),
    cancel: (subscriptionId: string, body?: object, headers: Record<string, string> = {}) =>
      api.request('subscriptions.cancel', { params: { subscriptionId }, body, headers }),
    notified,
    /** Types of a subscription's events after its creation. */
    notifiedSince: async (id: string) =>
      (await notified(id)).map(({ type }) => type).filter((type) => type !== 'subscription.created'),
    /** How many events report that a customer's plan changed, after its first subscription. */
    planChanges: async (customerId: string) => (await notified(customerId)).length - 1,
    recorded: (objectId: string) => auditEntries(api.pool, objectId),
  };
}

/** Of one object, oldest first. */
export async function emittedEvents(
  pool: Pool,
  objectId: string,
): Promise<Array<{ type: string; data: object }>> {
  const { rows } = await pool.query<{ body: string }>(
    'SELECT body FROM webhook_events WHERE object_id = $1 ORDER BY created_at, type',
    [objectId],
  );
  return rows.map(({ body }) => {
    const { type, data } = JSON.parse(body);
    return { type, data };
  });
}

interface AuditEntry {
  actor: string;
  action: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export async function auditEntries(pool: Pool, objectId: string): Promise<AuditEntry[]> {
  const { rows } = await pool.query<AuditEntry>(
    'SELECT actor, action, before, after FROM audit_log WHERE object_id = $1 ORDER BY id',
    [objectId],
  );
  return rows;
}
