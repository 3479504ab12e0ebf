import type { Pool, PoolClient } from 'pg';
import type { BillingCycle } from './rules/billing-period.ts';
import type { CustomerGrants, HeldSubscription } from './rules/resolve-entitlements.ts';
import {
  type CustomerGrantsQuestion,
  type CustomerGrantsRow,
  readCustomerGrants,
} from './store/customer-grants.ts';

/** A customer with all that it holds. */
export interface CustomerWithGrants {
  customerId: string;
  isArchived: boolean;
  customerGrants: NamedCustomerGrants;
}

interface NamedCustomerGrants extends CustomerGrants {
  subscriptions: NamedSubscription[];
}

interface NamedSubscription extends HeldSubscription {
  id: string;
}

/** The customers, with subscriptions that have ended but were active at this time. */
export interface OneCustomerQuestion extends RequestedGrants {
  environment: string;
  /** Its id or external id. */
  customer: string;
  atMs: number;
}

/** The same of several at once: the caller bounds how many. */
export interface ManyCustomersQuestion extends Omit<OneCustomerQuestion, 'customer'> {
  customerIds: string[];
}

export type RequestedGrants = Pick<CustomerGrantsQuestion, 'featureIds' | 'meterKeys'>;

export const NO_GRANTS: RequestedGrants = { featureIds: [], meterKeys: [] };

const DAY_MS = 86_400_000;

/** Undefined when there is no such customer. Includes only the requested grants and overrides. */
export async function findCustomerGrants(
  db: Pool | PoolClient,
  { environment, atMs, customer, ...requested }: OneCustomerQuestion,
): Promise<CustomerWithGrants | undefined> {
  const question = { ...requested, customers: [customer], at: new Date(atMs) };
  return customerOf(await readCustomerGrants(db, environment, question));
}

/** By id: those that there are. */
export async function findManyCustomerGrants(
  db: Pool | PoolClient,
  { environment, atMs, customerIds, ...requested }: ManyCustomersQuestion,
): Promise<Map<string, CustomerWithGrants>> {
  const question = { ...requested, customers: customerIds, at: new Date(atMs) };
  const byId = new Map<string, CustomerGrantsRow[]>();
  for (const row of await readCustomerGrants(db, environment, question)) {
    const before = byId.get(row.customerId);
    if (before) before.push(row);
    else byId.set(row.customerId, [row]);
  }
  return new Map(
    [...byId].flatMap(([id, rows]) => {
      const customer = customerOf(rows);
      return customer ? [[id, customer] as const] : [];
    }),
  );
}

/** What entitles it to something: nothing does when it is archived. */
export function heldNow({ isArchived, customerGrants }: CustomerWithGrants): CustomerGrants {
  return isArchived ? { ...customerGrants, subscriptions: [], overrides: [] } : customerGrants;
}

/** Of one customer, its first row first. */
function customerOf(rows: CustomerGrantsRow[]): CustomerWithGrants | undefined {
  const [first] = rows;
  if (!first) return undefined;
  return {
    customerId: first.customerId,
    isArchived: first.customerStatus === 'archived',
    customerGrants: {
      graceMs: first.graceDays * DAY_MS,
      subscriptions: subscriptionsOf(rows),
      overrides: first.overrides ?? [],
    },
  };
}

function subscriptionsOf(rows: CustomerGrantsRow[]): NamedSubscription[] {
  return rows.flatMap((row) => (row.subscriptionId === null ? [] : [subscriptionOf(row)]));
}

function subscriptionOf(row: Extract<CustomerGrantsRow, { subscriptionId: string }>): NamedSubscription {
  const {
    subscriptionId: id,
    status,
    statusSince,
    createdAt,
    canceledAt,
    startsAt,
    periodStart,
    periodEnd,
    grants,
  } = row;
  return {
    id,
    status,
    statusSinceMs: statusSince.getTime(),
    createdAtMs: createdAt.getTime(),
    canceledAtMs: canceledAt?.getTime() ?? null,
    startsAtMs: startsAt.getTime(),
    cycle: cycleOf(row),
    periodStartMs: periodStart.getTime(),
    periodEndMs: periodEnd.getTime(),
    grants,
  };
}

/** As it is stored. */
function cycleOf({ anchor, interval, intervalCount, legacyIntervalMs }: Stored): BillingCycle {
  const cycle = { anchorMs: anchor.getTime(), interval, intervalCount };
  return legacyIntervalMs === null ? cycle : { ...cycle, legacyIntervalMs };
}

type Stored = Pick<
  Extract<CustomerGrantsRow, { subscriptionId: string }>,
  'anchor' | 'interval' | 'intervalCount' | 'legacyIntervalMs'
>;
