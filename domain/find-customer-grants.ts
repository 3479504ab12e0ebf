import type { Pool, PoolClient } from 'pg';
import type { HeldSubscription, Holdings } from './rules/resolve-entitlements.ts';
import type { BillingCycle } from './rules/subscription-period.ts';
import { type HoldingRow, type HoldingsQuestion, readHoldings } from './store/customer-grants.ts';

/** A customer with all that it holds. */
export interface Holder {
  customerId: string;
  isArchived: boolean;
  holdings: NamedHoldings;
}

interface NamedHoldings extends Holdings {
  subscriptions: NamedSubscription[];
}

interface NamedSubscription extends HeldSubscription {
  id: string;
}

/** Whose holdings, with subscriptions that ended but lived at this moment. */
export interface HolderQuestion extends AskedGrants {
  environment: string;
  /** Its id or external id. */
  customer: string;
  atMs: number;
}

/** The same of several at once: the caller bounds how many. */
export interface HoldersQuestion extends Omit<HolderQuestion, 'customer'> {
  customerIds: string[];
}

export type AskedGrants = Pick<HoldingsQuestion, 'featureIds' | 'meterKeys'>;

export const NO_GRANTS: AskedGrants = { featureIds: [], meterKeys: [] };

const DAY_MS = 86_400_000;

/** Undefined when there is no such customer. Of its grants and overrides it has those that are asked for. */
export async function findHolder(
  db: Pool | PoolClient,
  { environment, atMs, customer, ...asked }: HolderQuestion,
): Promise<Holder | undefined> {
  const question = { ...asked, customers: [customer], at: new Date(atMs) };
  return holderOf(await readHoldings(db, environment, question));
}

/** By id: those that there are. */
export async function findHolders(
  db: Pool | PoolClient,
  { environment, atMs, customerIds, ...asked }: HoldersQuestion,
): Promise<Map<string, Holder>> {
  const question = { ...asked, customers: customerIds, at: new Date(atMs) };
  const byId = new Map<string, HoldingRow[]>();
  for (const row of await readHoldings(db, environment, question)) {
    const before = byId.get(row.customerId);
    if (before) before.push(row);
    else byId.set(row.customerId, [row]);
  }
  return new Map(
    [...byId].flatMap(([id, rows]) => {
      const holder = holderOf(rows);
      return holder ? [[id, holder] as const] : [];
    }),
  );
}

/** What entitles it to something: nothing does when it is archived. */
export function heldNow({ isArchived, holdings }: Holder): Holdings {
  return isArchived ? { ...holdings, subscriptions: [], overrides: [] } : holdings;
}

/** Of one customer, its first row first. */
function holderOf(rows: HoldingRow[]): Holder | undefined {
  const [first] = rows;
  if (!first) return undefined;
  return {
    customerId: first.customerId,
    isArchived: first.customerStatus === 'archived',
    holdings: {
      graceMs: first.graceDays * DAY_MS,
      subscriptions: subscriptionsOf(rows),
      overrides: first.overrides ?? [],
    },
  };
}

function subscriptionsOf(rows: HoldingRow[]): NamedSubscription[] {
  return rows.flatMap((row) => (row.subscriptionId === null ? [] : [subscriptionOf(row)]));
}

function subscriptionOf(row: Extract<HoldingRow, { subscriptionId: string }>): NamedSubscription {
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
  Extract<HoldingRow, { subscriptionId: string }>,
  'anchor' | 'interval' | 'intervalCount' | 'legacyIntervalMs'
>;
