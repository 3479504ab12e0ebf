import { rateOfOneMore } from '../../../domain/rules/credit-cover.ts';
import { decideEntitlement } from '../../../domain/rules/decide-entitlement.ts';
import type { EntitlementView } from '../../../domain/rules/resolve-entitlements.ts';
import type { RequestedFeatureRow } from '../../store/requested-features.ts';
import type { CachedCustomer, Prepared } from '../cache/cached-customer.ts';
import type { CounterCache } from '../cache/counter-cache.ts';
import type { FoundCustomer } from '../cache/customer-cache.ts';
import type { FeatureCache } from '../cache/feature-cache.ts';
import { readingNow } from '../check/cached-checks.ts';
import { preparedOf, printDecision } from '../check/prepare-decision.ts';

/** What a feed says of one customer. */
export interface FeedState {
  status: 'active' | 'archived' | 'unknown' | 'too_large';
  /** JSON members that change with the customer alone. */
  head: string;
  features: FeedFeature[];
  /** What it was made from; undefined: there is nothing to compare with the caches. */
  made: { customer: CachedCustomer; view: EntitlementView } | undefined;
}

export interface FeedFeature {
  row: RequestedFeatureRow;
  prepared: Prepared;
  /** Of its counter, as the decision has it, and up to when it was the same. */
  current: string | undefined;
  asOfMs: number;
  /** JSON members in front of the decision. */
  facts: string;
  /** JSON. */
  decision: string;
}

interface Caches {
  features: FeatureCache;
  counters: CounterCache;
}

/** Decisions are kept prepared for so many of one customer. */
const FEATURES_MAX = 200;
/** Of what is sent of one customer at once. Beyond it the server is asked about that customer. */
const STATE_BYTES_MAX = 2 ** 20;

export const UNKNOWN: FeedState = { status: 'unknown', head: '', features: [], made: undefined };

/** Kept with what it was made from: it is made again only when that has changed. */
function tooLarge(made: FeedState['made']): FeedState {
  return { status: 'too_large', head: '', features: [], made };
}

/** The features that a customer has, or would have if a subscription counted. */
export function heldFeatures({ features, withheld }: EntitlementView): string[] {
  return [...new Set([...features.keys(), ...withheld.keys()])].sort();
}

/**
 * Made of the caches; undefined where they lack a feature or a counter. `isComplete`: all that there is was
 * read, so a feature that they lack does not exist.
 */
export function feedState(
  { features, counters }: Caches,
  customer: FoundCustomer,
  { nowMs, isComplete }: { nowMs: number; isComplete: boolean },
): FeedState | undefined {
  if ('isLarge' in customer) return tooLarge(undefined);
  const view = customer.viewAt(nowMs);
  const keys = heldFeatures(view);
  const made = { customer, view };
  if (keys.length > FEATURES_MAX) return tooLarge(made);
  const held: FeedFeature[] = [];
  for (const key of keys) {
    const row = features.find(customer.environment, key);
    if (row === undefined && isComplete) continue;
    const feature = row && feedFeature(counters, { customer, row, nowMs });
    if (!feature) return undefined;
    held.push(feature);
  }
  // mutant: large-customer-fed
  if (bytesOf(held) > STATE_BYTES_MAX) return tooLarge(made);
  const status = customer.isArchived ? 'archived' : 'active';
  return { status, head: headOf(customer, view), features: held, made };
}

function feedFeature(
  counters: CounterCache,
  { customer, row, nowMs }: { customer: CachedCustomer; row: RequestedFeatureRow; nowMs: number },
): FeedFeature | undefined {
  const prepared = preparedOf(customer, row, nowMs);
  const reading = readingNow(counters, prepared);
  if (prepared.place && !reading) return undefined;
  const decision = printDecision(customer, row, { prepared, requested: undefined, reading });
  const soft = prepared.view.features.get(row.key)?.soft === true;
  const rate = row.meterKey === null ? undefined : rateOfOneMore(row);
  const facts =
    (row.meterKey === null ? '' : `"meterId":${JSON.stringify(row.meterKey)},`) +
    (row.aggregation === null ? '' : `"aggregation":"${row.aggregation}",`) +
    (soft ? '"soft":true,' : '') +
    (rate === undefined ? '' : `"creditRate":${rate},`);
  const asOfMs = reading?.asOfMs ?? Number.POSITIVE_INFINITY;
  return { row, prepared, current: reading?.current, asOfMs, facts, decision };
}

function bytesOf(features: readonly FeedFeature[]): number {
  return features.reduce((sum, { facts, decision }) => sum + Buffer.byteLength(facts + decision), 0);
}

function headOf({ isArchived, credits: { balance, unpaid } }: CachedCustomer, view: EntitlementView): string {
  // Of a feature that it does not have.
  const otherwise = decideEntitlement(
    { customerId: '', featureKey: '' },
    {
      customer: isArchived ? 'archived' : 'active',
      featureType: 'boolean',
      view: { ...view, features: NONE },
    },
  );
  return `"otherwise":"${otherwise.reasonCode}","credits":{"balance":${balance},"unpaid":${unpaid}},`;
}

const NONE: EntitlementView['features'] = new Map();

/**
 * Brings the decisions up to date and returns those that have changed; undefined where the state has to be
 * made again. A few hundredths of a microsecond for a feature that stays the same.
 */
export function changedFeatures(
  { features, counters }: Caches,
  { features: held, made }: FeedState,
  { customer, nowMs }: { customer: FoundCustomer; nowMs: number },
): FeedFeature[] | undefined {
  if (!made) return 'isLarge' in customer ? NO_CHANGES : undefined;
  if (customer !== made.customer || made.customer.viewAt(nowMs) !== made.view) return undefined;
  let changed: FeedFeature[] | undefined;
  for (const one of held) {
    const { row, prepared } = one;
    if (features.find(made.customer.environment, row.key) !== row) return undefined;
    if (!prepared.place) continue;
    const reading = nowMs < prepared.untilMs ? readingNow(counters, prepared) : undefined;
    if (!reading) return undefined;
    one.asOfMs = reading.asOfMs;
    if (reading.current === one.current) continue;
    one.current = reading.current;
    one.decision = printDecision(made.customer, row, { prepared, requested: undefined, reading });
    changed ??= [];
    changed.push(one);
  }
  return changed ?? NO_CHANGES;
}

const NO_CHANGES: FeedFeature[] = [];

/** Up to when everything is counted in all its decisions. */
export function asOfMsOf({ features }: FeedState): number {
  return features.reduce((least, { asOfMs }) => Math.min(least, asOfMs), Number.POSITIVE_INFINITY);
}

/** Whether anything but decisions and times differs. */
export function isSameBut(one: FeedState, other: FeedState): boolean {
  if (one.status !== other.status || one.head !== other.head) return false;
  if (one.features.length !== other.features.length) return false;
  return one.features.every(({ row, facts }, at) => {
    const second = other.features[at];
    return row.key === second?.row.key && facts === second.facts;
  });
}

/** A decision without the time up to which it is counted, which alone changes all the time. */
export function withoutTime(decision: string): string {
  const at = decision.lastIndexOf(',"asOf":');
  return at < 0 ? decision : decision.slice(0, at);
}
