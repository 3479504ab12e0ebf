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
import type { CounterPlace, RememberedCounter } from './counter-store.ts';

/** A customer as it was read: all that it holds, of one moment. */
export interface ReadCustomer {
  environment: string;
  holder: CustomerWithGrants;
  /** The history of its meters, as far as it says something of now and later. */
  terms: ReadonlyMap<string, readonly MeteredTerm[]>;
  credits: Pick<WalletState, 'balance' | 'unpaid' | 'nextExpiryAt'>;
  /** Another one once it has changed: store/holding-marks.ts. */
  mark: string;
}

/** A customer in memory. */
export interface RememberedCustomer extends ReadCustomer {
  /** None where it is archived. */
  customerGrants: CustomerGrants;
  viewAt(nowMs: number): EntitlementView;
  /** What was decided lately, by feature. */
  prepared: Map<RequestedFeatureRow, Prepared>;
}

/** What a decision on one feature of a customer takes, worked out once for as long as it stays the same. */
export interface Prepared {
  view: EntitlementView;
  /** Of what is metered and held: the counter of the period that ends then. */
  place: CounterPlace | undefined;
  untilMs: number;
  counter: RememberedCounter | undefined;
  /** The part of the answer that stays the same whatever is requested or counted, once it was printed. */
  contributions: string | undefined;
  last: PrintedDecision | undefined;
}

/** A decision as JSON. */
export interface PrintedDecision {
  requested: string | undefined;
  current: string | undefined;
  /** Of one with an `asOf` up to that: all else stays the same from one moment to the next. */
  text: string;
  /** With the last `asOf`, which stands for half a second. */
  whole: string;
  asOfMs: number | undefined;
}

export function rememberedCustomer(read: ReadCustomer): RememberedCustomer {
  const customerGrants = heldNow(read.holder);
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

/** Bytes of one of each, and what its last decision on each feature takes beside it. */
const BYTES = { customer: 2_000, subscription: 400, grant: 1_900, override: 1_800, term: 400 };

/** About. */
export function bytesOf({ customerGrants: { subscriptions, overrides }, terms }: RememberedCustomer): number {
  const grants = subscriptions.reduce((sum, one) => sum + one.grants.length, 0);
  const held = subscriptions.length * BYTES.subscription + grants * BYTES.grant;
  const metered = [...terms.values()].reduce((sum, { length }) => sum + length, 0) * BYTES.term;
  return BYTES.customer + held + overrides.length * BYTES.override + metered;
}
