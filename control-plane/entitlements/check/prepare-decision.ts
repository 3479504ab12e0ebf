import { rateOfOneMore } from '../../../domain/rules/credit-cover.ts';
import { decideEntitlement, type EntitlementFacts } from '../../../domain/rules/decide-entitlement.ts';
import { limitWindow } from '../../../domain/rules/limit-windows.ts';
import type { EffectiveEntitlement, EntitlementView } from '../../../domain/rules/resolve-entitlements.ts';
import type { Span } from '../../../schemas/primitives/calendar.ts';
import { exactJson } from '../../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../../schemas/primitives/timestamp.ts';
import type { EntitlementDecision } from '../../../schemas/resources/entitlements.ts';
import type { RequestedFeatureRow } from '../../store/requested-features.ts';
import type { CachedCustomer, Prepared, PrintedDecision } from '../cache/cached-customer.ts';
import type { CounterPlace, CounterReading } from '../cache/counter-store.ts';

/** Of one customer's features; beyond that number all are computed again. */
const PREPARED_MAX = 256;

/** The prepared decision at this time. */
export function preparedOf(customer: CachedCustomer, feature: RequestedFeatureRow, nowMs: number): Prepared {
  const view = customer.viewAt(nowMs);
  const known = customer.prepared.get(feature);
  if (known?.view === view && nowMs < known.untilMs) return known;
  const place = placeOf(customer, feature, { view, nowMs });
  const untilMs = place?.span.toMs ?? Number.POSITIVE_INFINITY;
  const prepared = { view, place, untilMs, counter: undefined, contributions: undefined, last: undefined };
  if (customer.prepared.size >= PREPARED_MAX) customer.prepared.clear();
  customer.prepared.set(feature, prepared);
  return prepared;
}

function placeOf(
  { environment, customerId, terms }: CachedCustomer,
  { key, meterKey, aggregation }: RequestedFeatureRow,
  { view, nowMs }: { view: EntitlementView; nowMs: number },
): CounterPlace | undefined {
  const held = view.features.get(key);
  if (meterKey === null || aggregation === null || !held) return undefined;
  const span = limitWindow(terms.get(meterKey) ?? [], held.resets ?? 'billing_period', nowMs);
  return { environment, customerId, meterKey, aggregation, span };
}

/** The decision as JSON; printed again only when the requested amount or the count has changed. */
export function printDecision(
  customer: CachedCustomer,
  feature: RequestedFeatureRow,
  { prepared, requested, reading }: PrintQuestion,
): string {
  const { last } = prepared;
  const current = reading?.current;
  const isSame = last !== undefined && last.requested === requested && last.current === current;
  const printed = isSame ? last : cacheDecision(customer, feature, { prepared, requested, reading });
  if (reading && printed.asOfMs !== reading.asOfMs) {
    printed.asOfMs = reading.asOfMs;
    printed.whole = `${printed.text}"${timestampText(reading.asOfMs)}"}`;
  }
  return printed.whole;
}

export interface PrintQuestion {
  prepared: Prepared;
  requested: string | undefined;
  /** For the prepared place. */
  reading: CounterReading | undefined;
}

function cacheDecision(
  customer: CachedCustomer,
  feature: RequestedFeatureRow,
  { prepared, requested, reading }: PrintQuestion,
): PrintedDecision {
  const question = { customerId: customer.customerId, featureKey: feature.key, requested };
  const { asOf, contributions, ...decision } = decideEntitlement(
    question,
    factsOf(customer, feature, { prepared, reading }),
  );
  // There may be a hundred contributions, and they depend on the view alone.
  prepared.contributions ??= contributions ? `,"contributions":${exactJson(contributions)}` : '';
  const json = `${exactJson(decision).slice(0, -1)}${prepared.contributions}`;
  const text = asOf === undefined ? `${json}}` : `${json},"asOf":`;
  prepared.last = { requested, current: reading?.current, text, whole: text, asOfMs: undefined };
  return prepared.last;
}

export function factsOf(
  { isArchived, credits }: CachedCustomer,
  feature: RequestedFeatureRow,
  { prepared: { view, place }, reading }: Omit<PrintQuestion, 'requested'>,
): EntitlementFacts {
  const held = view.features.get(feature.key);
  const rate = held && rateOfOneMore(feature);
  return {
    customer: isArchived ? 'archived' : 'active',
    featureType: feature.type,
    view,
    counter: place && reading && { ...reading, resetsAtMs: resetOf(held, place.span) },
    credit: rate === undefined ? undefined : { balance: credits.balance, unpaid: credits.unpaid, rate },
  };
}

/** When a window is followed by another one. */
export function resetOf(held: EffectiveEntitlement | undefined, { toMs }: Span): number | undefined {
  return held?.resets === 'never' ? undefined : toMs;
}

/** The customer or the feature is unknown. */
export function printUnknown(
  question: { customer: string; featureKey: string },
  customer: CachedCustomer | undefined,
  feature: RequestedFeatureRow | undefined,
): string {
  const decision: EntitlementDecision = decideEntitlement(
    {
      customerId: customer?.customerId ?? question.customer,
      featureKey: feature?.key ?? question.featureKey,
    },
    {
      customer: customer ? (customer.isArchived ? 'archived' : 'active') : 'unknown',
      featureType: feature?.type,
      view: NOTHING,
    },
  );
  return exactJson(decision);
}

/** Of a customer or for a feature that is unknown. */
export const NOTHING: EntitlementView = { features: new Map(), withheld: new Map(), standing: 'none' };
