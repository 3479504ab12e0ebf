import type { HeldSubscription, Holdings } from '../../schemas/rules/resolve-entitlements.ts';
import type { Database } from '../request-context.ts';
import { type HoldingRow, type HoldingsQuestion, readHoldings } from '../store/holdings.ts';

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

export type AskedGrants = Pick<HoldingsQuestion, 'featureIds' | 'meterKeys'>;

export const NO_GRANTS: AskedGrants = { featureIds: [], meterKeys: [] };

const DAY_MS = 86_400_000;

/** Undefined when there is no such customer. Of its grants it has those that are asked for. */
export async function findHolder(
  db: Database,
  { environment, atMs, ...question }: HolderQuestion,
): Promise<Holder | undefined> {
  const rows = await readHoldings(db, environment, { ...question, at: new Date(atMs) });
  const [first] = rows;
  if (!first) return undefined;
  return {
    customerId: first.customerId,
    isArchived: first.customerStatus === 'archived',
    holdings: { graceMs: first.graceDays * DAY_MS, subscriptions: subscriptionsOf(rows) },
  };
}

/** What entitles it to something: nothing does when it is archived. */
export function heldNow({ isArchived, holdings }: Holder): Holdings {
  return isArchived ? { ...holdings, subscriptions: [] } : holdings;
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
    anchor,
    intervalMonths,
    intervalMs,
    grants,
  } = row;
  return {
    id,
    status,
    statusSinceMs: statusSince.getTime(),
    createdAtMs: createdAt.getTime(),
    canceledAtMs: canceledAt?.getTime() ?? null,
    cycle: { anchorMs: anchor.getTime(), intervalMonths, intervalMs },
    grants,
  };
}
