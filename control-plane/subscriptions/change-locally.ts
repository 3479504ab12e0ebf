import { changedFields } from '../changes/changed-fields.ts';
import type { ChangeContext } from '../changes/record-change.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { stampLocalChange } from '../store/subscriptions.ts';
import { changeSubscription } from './change-subscription.ts';
import { shownSubscription } from './shown-subscription.ts';

/**
 * As {@link changeSubscription}, for a change that an API client requests: an earlier event of the processor
 * will not undo it. A change by the subscription clock does not count: it only anticipates the processor.
 */
export function changeLocally(
  context: ChangeContext,
  row: SubscriptionRow,
  fields: Partial<SubscriptionFields>,
): Promise<SubscriptionRow> {
  const isStamped = isOther(row, { ...row, ...fields });
  const stamp = isStamped ? { localChangedAt: new Date(context.nowMs) } : {};
  return changeSubscription(context, row, { ...fields, ...stamp });
}

/** The same for its add-ons, which the caller has written already. */
export async function stampAddonChange(
  { db, environment, nowMs }: ChangeContext,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<void> {
  if (isOther(before, after)) await stampLocalChange(db, environment, { id: after.id, at: new Date(nowMs) });
}

/** The processor reports none of the other fields. */
function isOther(before: SubscriptionRow, after: SubscriptionRow): boolean {
  const [old, now] = [before, after].map((row) => {
    const { metadata: _, processorSubscriptionId: __, ...notified } = shownSubscription(row);
    return notified;
  });
  return changedFields(old ?? {}, now ?? {}).length > 0;
}
