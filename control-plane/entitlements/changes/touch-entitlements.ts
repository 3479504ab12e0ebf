import { notifyChange } from '../../../domain/store/notify-change.ts';
import type { ChangeContext } from '../../changes/record-change.ts';
import { lockEntitlements, shareEntitlements } from '../../store/change-locks.ts';
import { type FanoutScope, notifyFanout, requestFanout } from '../../store/fanout-jobs.ts';
import { type ChangedFeature, featureTarget } from '../../store/fanout-members.ts';
import { touchNotified } from '../../store/notified-entitlements.ts';
import { notifyCustomers } from './notify-customers.ts';

/** The customers whose entitlements a change may affect: few by name, many by what they have in common. */
export type TouchedScope =
  | { customerIds: string[] }
  /** On its newest version. */
  | { planId: string }
  | { addonId: string }
  /** A feature that is deleted, or counts another meter: with its former meter. */
  | ChangedFeature
  /** Customers with an overdue payment. */
  | 'past_due';

/**
 * The last step of a change of customer grants, in the change's own transaction. For few customers it emits
 * `entitlement.changed` at once for each value that differs; for many it leaves a job to the change notifier.
 * It invalidates every cached copy of these customers; after a change of the catalogue the caller does that.
 * The change is in effect from `since` on: a clock notices late what time does.
 *
 * The locks are taken in one order: the environment's lock, then the customers' own. A notification of the
 * state before a change of many commits before that change does, so that the job finds the customer.
 */
export async function touchEntitlements(
  context: ChangeContext,
  touched: TouchedScope,
  since = new Date(context.nowMs),
): Promise<void> {
  const { db, environment, nowMs } = context;
  const at = new Date(nowMs);
  if (typeof touched === 'object' && 'customerIds' in touched) {
    await shareEntitlements(db, environment);
    const rows = await touchNotified(db, environment, { customerIds: touched.customerIds, at });
    await notifyCustomers(db, { environment, nowMs, sinceMs: () => since.getTime() }, rows);
    for (const id of touched.customerIds) await notifyChange(db, { kind: 'holdings', environment, id });
    return;
  }
  // mutant: change-without-the-lock
  await lockEntitlements(db, environment);
  await requestFanout(db, environment, { ...jobOf(touched), at });
  await notifyFanout(db);
}

function jobOf(touched: Exclude<TouchedScope, { customerIds: string[] }>): {
  scope: FanoutScope;
  target: string;
} {
  if (touched === 'past_due') return { scope: 'past_due', target: '' };
  if ('planId' in touched) return { scope: 'plan', target: touched.planId };
  if ('addonId' in touched) return { scope: 'addon', target: touched.addonId };
  return { scope: 'feature', target: featureTarget(touched) };
}
