import { expireCredits, grantCredits } from '../../domain/credits/move-credits.ts';
import { shownGrant } from '../../domain/credits/shown-grant.ts';
import { creditText, creditUnits } from '../../domain/rules/credit-units.ts';
import {
  type DueGrant,
  dueGrants,
  grantPeriodAt,
  partsDue,
  type RecurringGrantSet,
  setAt,
} from '../../domain/rules/recurring-credits.ts';
import { alignExpiry, findGrantedPeriod, type RecurringPlace } from '../../domain/store/credit-grants.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { type ChangeContext, recordChange } from '../changes/record-change.ts';
import { readGrantingSince, writeCreditSchedule } from '../store/credit-schedules.ts';
import { findCustomer } from '../store/customers.ts';
import { listCreditGrantSets } from '../store/plan-credit-grants.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import {
  concernsGrants,
  isGranting,
  placeOf,
  type SubscriptionChange,
  stretchesOf,
} from './granting-stretches.ts';

/**
 * Makes the credit grants that a change of a locked subscription makes due, in the change's transaction: a
 * new period, a plan, the end of a pause. A grant is identified by subscription, key and period, so that a
 * second one cannot be. The wallet is locked last.
 */
export async function grantRecurring(context: ChangeContext, change: SubscriptionChange): Promise<void> {
  if (!concernsGrants(change)) return;
  const { before, after } = change;
  const { db, environment, nowMs } = context;
  const plans = [before?.planId, before?.pendingPlanId, after.planId].filter((id) => id != null);
  const sets = await listCreditGrantSets(db, [...new Set(plans)]);
  if (sets.length === 0) return;
  const { scheduledMs, heldFromMs: afterMs } = await readGrantingSince(db, after.id, new Date(nowMs));
  const since = { scheduledMs, afterMs, beforeMs: change.heldFromMs };
  const due = stretchesOf(change, { nowMs, since }).flatMap((one) => dueGrants(one, sets));
  const isOtherPlan = before?.planId !== after.planId || before.planVersion !== after.planVersion;
  await grantAll(context, after, { due, isOtherPlan });
  const dueAt = nextDueAt(after, sets, nowMs);
  await writeCreditSchedule(db, environment, { subscriptionId: after.id, dueAt });
}

/** Makes what time alone has made due of a locked subscription. */
export async function grantScheduled(
  context: ChangeContext,
  row: SubscriptionRow,
  dueAt: Date,
): Promise<void> {
  const { db, environment, nowMs } = context;
  const sets = await listCreditGrantSets(db, [row.planId]);
  const [firstMs, endMs] = [dueAt.getTime(), row.currentPeriodEnd.getTime()];
  const lastMs = Math.min(nowMs, endMs - 1);
  const isStart = firstMs === row.startsAt.getTime();
  const stretch = { ...placeOf(row), firstMs, lastMs, includesBegun: isStart };
  const due = isGranting(row) ? dueGrants(stretch, sets) : [];
  await grantAll(context, row, { due, isOtherPlan: false });
  const next = nextDueAt(row, sets, nowMs);
  await writeCreditSchedule(db, environment, { subscriptionId: row.id, dueAt: next });
}

/**
 * At its start, or with its next month. The months after the running period are found when the next one
 * begins.
 */
function nextDueAt(
  row: SubscriptionRow,
  sets: readonly RecurringGrantSet[],
  nowMs: number,
): Date | undefined {
  if (!isGranting(row)) return undefined;
  if (row.startsAt.getTime() > nowMs) return row.startsAt;
  const place = placeOf(row);
  if (!setAt(place, sets, nowMs).some(({ every }) => every === 'month')) return undefined;
  const { toMs } = grantPeriodAt(place.term, 'month', nowMs);
  return toMs < row.currentPeriodEnd.getTime() ? new Date(toMs) : undefined;
}

interface Due {
  due: readonly DueGrant[];
  /** A larger amount is added to what the period was granted. */
  isOtherPlan: boolean;
}

async function grantAll(
  context: ChangeContext,
  row: SubscriptionRow,
  { due, isOtherPlan }: Due,
): Promise<void> {
  const { db, environment, nowMs } = context;
  if (due.length === 0) return;
  // Nothing is granted to an archived customer.
  if ((await findCustomer(db, environment, row.customerId))?.status !== 'active') return;
  const places = [{ environment, customerId: row.customerId }];
  for (const one of due) {
    const { key, every } = one.grant;
    await alignExpiry(db, { subscriptionId: row.id, key, every, ...one.period });
    // A period that is over by now begins with what expired at the end of the one before it.
    await expireCredits(db, { nowMs, places });
    await grantOne(context, row, { ...one, isOtherPlan });
  }
  await expireCredits(db, { nowMs, places });
}

async function grantOne(
  context: ChangeContext,
  row: SubscriptionRow,
  { grant, period, isOtherPlan }: DueGrant & Pick<Due, 'isOtherPlan'>,
): Promise<void> {
  const place = { subscriptionId: row.id, key: grant.key, periodStartMs: period.fromMs };
  const { amount, nextPart, lapsed } = await findGrantedPeriod(context.db, place);
  const soFar = { granted: creditUnits(amount), nextPart, lapsed: creditUnits(lapsed) };
  const parts = partsDue(grant, soFar, { isOtherPlan });
  // In the order of their ids grants burn that have all else in common: what was rolled over is the first.
  const ids = parts.map(() => newId('grant')).sort();
  for (const [at, { part, units }] of parts.entries()) {
    const reason = part === 0 ? 'Rolled over' : `Included in ${row.planName}`.slice(0, REASON_CHARS_MAX);
    const id = ids[at] ?? newId('grant');
    await make(context, row, { id, grant, period, recurring: { ...place, part }, units, reason });
  }
}

const REASON_CHARS_MAX = 200;

interface Made extends DueGrant {
  id: string;
  recurring: RecurringPlace;
  units: bigint;
  reason: string;
}

/** With its event and audit entry. */
async function make(
  context: ChangeContext,
  { customerId }: SubscriptionRow,
  { id, grant, period, recurring, units, reason }: Made,
): Promise<void> {
  const { db, environment, nowMs } = context;
  const row = await grantCredits(db, {
    id,
    environment,
    customerId,
    amount: creditText(units),
    reason,
    priority: grant.priority,
    expiresAt: grant.expires === 'never' ? null : new Date(period.toMs),
    createdAt: new Date(nowMs),
    recurring,
  });
  const after = shownGrant(row);
  const data = { customerId, amount: after.amount, reason };
  const events = [{ type: 'credit.granted' as const, data }];
  const own = { ...context, operationId: 'credits.grantRecurring' };
  await recordChange(own, { objectId: row.id, after, events });
}
