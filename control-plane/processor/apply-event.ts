import { hasEnded } from '../../domain/rules/subscription-status.ts';
import type { ChangeContext } from '../changes/record-change.ts';
import type { EventOutcome } from '../store/processor-events.ts';
import {
  deleteSubscriptionAddon,
  findProcessorAddons,
  putProcessorAddon,
} from '../store/subscription-addons.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { changeSubscription } from '../subscriptions/change-subscription.ts';
import { APPLIED, outdated, unmatched } from './event-outcome.ts';
import type { KeptEvent } from './kept-event.ts';
import { type MappedItems, mapItems } from './mapped-items.ts';
import type { Mapping } from './read-mapping.ts';
import { reportedFields, reportedPlan } from './reported-fields.ts';
import { localOrderMs } from './subscription-event.ts';

export interface Applied {
  row: SubscriptionRow;
  outcome: EventOutcome;
}

/**
 * Moves a locked subscription to the status that the processor reports, even where our own table has no such
 * transition, with the plan and the add-ons that its items map to. An older event changes nothing. If a price
 * has no mapping, the rest is applied at once, and the event waits for its items.
 */
export async function applyEvent(
  context: ChangeContext,
  { row, mapping }: { row: SubscriptionRow; mapping: Mapping },
  kept: KeptEvent,
): Promise<Applied> {
  if (isOlder(row, kept)) return { row, outcome: outdated(kept) };
  const items = await mappedItems(context, { row, mapping }, kept);
  const { missingPrices, reasons } = items;
  for (const addon of items.put) await putProcessorAddon(context.db, row.id, addon);
  for (const addonId of items.removed) await deleteSubscriptionAddon(context.db, row.id, addonId);
  const notified = kept.appliedAt ? {} : reportedFields(row, kept, context.nowMs);
  const plan = reportedPlan(row, kept, items.planId);
  const fields = { ...notified, ...plan };
  const since = sinceOf({ row, fields }, kept, context.nowMs);
  const changed = await changeSubscription({ ...context, since }, row, fields);
  const outcome = reasons.length > 0 ? unmatched(reasons, { missingPrices }) : APPLIED;
  return { row: changed, outcome };
}

/**
 * Older than the processor's last change, or than a change made here since. The times of a test clock cannot
 * be compared with ours: for them the time of receipt counts.
 */
function isOlder(row: SubscriptionRow, { event, receivedAt }: KeptEvent): boolean {
  const { processorChangedAt, localChangedAt, status } = row;
  if (processorChangedAt && event.changedAtMs < processorChangedAt.getTime()) return true;
  if (!localChangedAt) return false;
  if (event.isSimulated) return receivedAt < localChangedAt;
  return event.changedAtMs < localOrderMs(localChangedAt, status);
}

/** The processor's times have whole seconds: a change took effect within the second that it names. */
const SECOND_MS = 1_000;

interface Taking {
  row: SubscriptionRow;
  /** The fields that the event sets. */
  fields: Partial<SubscriptionFields>;
}

/**
 * From when the event counts for usage. An event applied on arrival: since it took effect at the processor; a
 * next period since its start, and a pending plan since the end of the period before. Never before the
 * subscription was created, nor before the end of the second that the event names: usage in that second used
 * the terms known here. An event that waited here, for a mapping or its link: from now on, since until now
 * everything used the terms known here.
 */
function sinceOf({ row, fields }: Taking, { event, receivedAt }: KeptEvent, nowMs: number): Date {
  if (event.isSimulated || /* mutant: waited-as-if-applied-at-once */ receivedAt.getTime() !== nowMs)
    return new Date(nowMs);
  const { status, statusSinceMs, period } = event;
  const isNext = period !== undefined && period.fromMs >= row.currentPeriodEnd.getTime();
  const isPlanDue = fields.planId !== undefined && fields.planId === row.pendingPlanId;
  if (isNext && isPlanDue && status === row.status) return row.currentPeriodEnd;
  const sinceMs = isNext ? Math.min(statusSinceMs, period.fromMs) : statusSinceMs;
  return new Date(Math.max(row.createdAt.getTime(), Math.min(sinceMs + SECOND_MS, nowMs)));
}

const NO_ITEMS: MappedItems = { put: [], removed: [], missingPrices: [], reasons: [] };

/** An ended subscription grants nothing any more. */
async function mappedItems(
  { db }: ChangeContext,
  { row, mapping }: { row: SubscriptionRow; mapping: Mapping },
  { event }: KeptEvent,
): Promise<MappedItems> {
  if (hasEnded(event.status) || !event.items) return NO_ITEMS;
  const processorAddonIds = await findProcessorAddons(db, row.id);
  return mapItems(event, mapping, { planId: row.planId, addons: row.addons, processorAddonIds });
}
