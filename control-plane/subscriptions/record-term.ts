import { periodAt, type SubscriptionTerm } from '../../domain/rules/billing-period.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { changedFields } from '../changes/changed-fields.ts';
import type { ChangeContext } from '../changes/record-change.ts';
import {
  insertFirstTerm,
  replaceSubscriptionTerms,
  type SubscriptionTermRow,
} from '../store/subscription-terms.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { termOfRow } from './subscription-fields.ts';

/** A trial costs nothing, nor does what gives nothing: see domain/rules/resolve-entitlements.ts. */
const CHARGED: ReadonlySet<string> = new Set(['active', 'past_due']);

/**
 * Records what a new or changed subscription pays for, in the change's transaction. `at`: when the change
 * took effect. A new one pays from its start, which may be in the past or in the future.
 */
export async function recordTerm(
  { db, nowMs }: ChangeContext,
  { before, after, at }: { before: SubscriptionRow | undefined; after: SubscriptionRow; at: Date },
): Promise<void> {
  if (before && changedFields(paidBy(before), paidBy(after)).length === 0) return;
  if (before) await insertFirstTerm(db, before.id, { ...termOf(before), startsAt: before.startsAt });
  const term = { ...termOf(after), startsAt: before ? at : after.startsAt };
  const isAhead = before !== undefined && after.startsAt > at;
  const terms = isAhead
    ? [
        { ...term, isCharged: false },
        { ...term, startsAt: after.startsAt },
      ]
    : [term];
  await replaceSubscriptionTerms(db, after.id, { terms, now: new Date(nowMs) });
}

function termOf(row: SubscriptionRow): Omit<SubscriptionTermRow, 'startsAt'> {
  const { status, planId, planVersion, addons, anchor, interval, intervalCount, legacyIntervalMs } = row;
  const cycle = { anchor, interval, intervalCount, legacyIntervalMs };
  const period = exceptionalPeriod(termOfRow(row));
  return { isCharged: CHARGED.has(status), planId, planVersion, addons, ...cycle, period };
}

/** Null where it is one of the lattice: time alone leads from one to the next. */
function exceptionalPeriod({ cycle, period }: SubscriptionTerm): Span | null {
  const { fromMs, toMs } = periodAt(cycle, period.fromMs);
  return fromMs === period.fromMs && toMs === period.toMs ? null : period;
}

function paidBy(row: SubscriptionRow): object {
  const { anchor, ...term } = termOf(row);
  return { ...term, anchorMs: anchor.getTime(), startsMs: row.startsAt.getTime() };
}
