import { type CustomerWithGrants, heldNow } from '../../../domain/find-customer-grants.ts';
import type { MeteredTerm } from '../../../domain/rules/metered-terms.ts';
import {
  type CustomerGrants,
  type EntitlementView,
  nextTurnMs,
  resolveEntitlements,
} from '../../../domain/rules/resolve-entitlements.ts';
import type { WalletState } from '../../../domain/store/credit-wallets.ts';
import type { RequestedFeatureRow } from '../../store/requested-features.ts';
import type { CachedCounter, CounterPlace } from './counter-store.ts';

/** A customer as it was read: all its grants, in one snapshot. */
export interface ReadCustomer extends CustomerWithGrants {
  environment: string;
  /** The history of its meters, as far as it matters now or later. */
  terms: ReadonlyMap<string, readonly MeteredTerm[]>;
  credits: Pick<WalletState, 'balance' | 'unpaid' | 'nextExpiryAt'>;
  /** Changes when the customer changes: control-plane/store/grant-versions.ts. */
  mark: string;
}

/** A cached customer. */
export interface CachedCustomer extends Omit<ReadCustomer, 'customerGrants'> {
  /** Empty for an archived customer. */
  customerGrants: CustomerGrants;
  viewAt(nowMs: number): EntitlementView;
  /** The latest decisions, by feature. */
  prepared: Map<RequestedFeatureRow, Prepared>;
}

/** The prepared data of a decision on one feature of a customer, kept while it stays valid. */
export interface Prepared {
  view: EntitlementView;
  /** For a metered feature that the customer has: the counter of the current period. */
  place: CounterPlace | undefined;
  untilMs: number;
  counter: CachedCounter | undefined;
  /** The printed part of the response that does not depend on what is requested or counted. */
  contributions: string | undefined;
  last: PrintedDecision | undefined;
}

/** A decision as JSON. */
export interface PrintedDecision {
  requested: string | undefined;
  current: string | undefined;
  /** The printed response with an `asOf`, up to its value: everything else stays the same. */
  text: string;
  /** The same with the last `asOf`, which is reused for half a second. */
  whole: string;
  asOfMs: number | undefined;
}

export function cachedCustomer(read: ReadCustomer): CachedCustomer {
  const customerGrants = heldNow(read);
  let seen: { view: EntitlementView; fromMs: number; untilMs: number } | undefined;
  return {
    ...read,
    customerGrants,
    prepared: new Map(),
    viewAt(nowMs) {
      if (!seen || nowMs >= seen.untilMs || nowMs < seen.fromMs) {
        const view = resolveEntitlements(customerGrants, nowMs);
        seen = { view, fromMs: nowMs, untilMs: nextTurnMs(customerGrants, nowMs) };
      }
      return seen.view;
    },
  };
}

/** Bytes of one customer and one feature, and of the last decision kept for each feature. */
const BYTES = { customer: 2_000, subscription: 400, grant: 1_900, override: 1_800, term: 400 };

/** Estimated. */
export function bytesOf({ customerGrants: { subscriptions, overrides }, terms }: CachedCustomer): number {
  const grants = subscriptions.reduce((sum, one) => sum + one.grants.length, 0);
  const subscribed = subscriptions.length * BYTES.subscription + grants * BYTES.grant;
  const metered = [...terms.values()].reduce((sum, { length }) => sum + length, 0) * BYTES.term;
  return BYTES.customer + subscribed + overrides.length * BYTES.override + metered;
}
