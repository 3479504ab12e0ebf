/** What a subscription refers to, locked for the transaction: it cannot be archived meanwhile. */
import type { Database } from '../http/request-context.ts';

export interface SubscribedCustomer {
  id: string;
  status: 'active' | 'archived';
}

/**
 * By id or external id. Also locked against further subscriptions, so that concurrent requests count each
 * other.
 */
export async function lockSubscriber(
  db: Database,
  environment: string,
  name: string,
): Promise<SubscribedCustomer | undefined> {
  const { rows } = await db.query<SubscribedCustomer>(
    `SELECT id, status FROM customers WHERE environment = $1 AND (id = $2 OR external_id = $2)
        FOR NO KEY UPDATE`,
    [environment, name],
  );
  return rows[0];
}

/** The same by the processor's id. */
export async function lockProcessorSubscriber(
  db: Database,
  environment: string,
  processorCustomerId: string,
): Promise<SubscribedCustomer | undefined> {
  const { rows } = await db.query<SubscribedCustomer>(
    `SELECT id, status FROM customers WHERE environment = $1 AND processor_customer_id = $2
        FOR NO KEY UPDATE`,
    [environment, processorCustomerId],
  );
  return rows[0];
}

/** The customer's subscriptions that have not ended. */
export async function countLivingSubscriptions(
  db: Database,
  environment: string,
  customerId: string,
): Promise<number> {
  const { rows } = await db.query<{ living: number }>(
    `SELECT count(*) AS living FROM subscriptions
      WHERE environment = $1 AND customer_id = $2 AND status NOT IN ('canceled', 'incomplete_expired')`,
    [environment, customerId],
  );
  return rows[0]?.living ?? 0;
}

export interface SubscribedPlan {
  id: string;
  status: 'draft' | 'published' | 'archived';
  /** The newest version; all from 1 to it exist. */
  version: number;
}

/** By id or key. */
export async function sharePlan(
  db: Database,
  environment: string,
  name: string,
): Promise<SubscribedPlan | undefined> {
  const { rows } = await db.query<SubscribedPlan>(
    `SELECT id, status, version FROM plans WHERE environment = $1 AND (id = $2 OR key = $2)
      ORDER BY (id = $2) DESC LIMIT 1 FOR SHARE`,
    [environment, name],
  );
  return rows[0];
}
