import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Subscription } from '../../schemas/resources/subscriptions.ts';
import { shownMetadata } from '../input/read-metadata.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';

/** As responses, the audit log and its ETag show it. */
export function shownSubscription(row: SubscriptionRow): Subscription {
  const { processorSubscriptionId, planVersion, pendingPlanId } = row;
  return {
    id: row.id,
    customerId: row.customerId,
    planId: row.planId,
    planName: row.planName,
    status: row.status,
    currentPeriodStart: textOf(row.currentPeriodStart),
    currentPeriodEnd: textOf(row.currentPeriodEnd),
    ...shownLength(row),
    billingAnchor: textOf(row.anchor),
    ...(row.cancelAt ? { cancelAt: textOf(row.cancelAt) } : {}),
    ...(row.canceledAt ? { canceledAt: textOf(row.canceledAt) } : {}),
    ...(row.trialEnd ? { trialEnd: textOf(row.trialEnd) } : {}),
    ...(processorSubscriptionId === null ? {} : { processorSubscriptionId }),
    ...(planVersion === null ? {} : { planVersion }),
    ...(pendingPlanId === null ? {} : { pendingPlanId }),
    addons: row.addons,
    ...shownMetadata(row.metadata),
    createdAt: textOf(row.createdAt),
  };
}

/** A subscription of an earlier release may have periods of a length that no interval describes. */
function shownLength({ interval, intervalCount, legacyIntervalMs }: SubscriptionRow) {
  return legacyIntervalMs === null ? { interval, intervalCount } : {};
}

function textOf(time: Date): string {
  return timestampText(time.getTime());
}
