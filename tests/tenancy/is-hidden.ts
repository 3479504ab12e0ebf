import type { CrossingRequest } from './tenant-requests.ts';
import type { WatchedResponse } from './watched-client.ts';

/** Operations that do not return 404 for unknown names, and what they return instead. */
const SAY_UNKNOWN: Record<string, RegExp> = {
  'usage.submitBatch customerId': /"code":"customer_not_found"/,
  'usage.submitBatch meterId': /"code":"meter_not_found"/,
  'entitlements.feed customerId': /"status":"unknown"/,
  'entitlements.check customerId': /"reasonCode":"customer_not_found"/,
  'entitlements.check featureKey': /"reasonCode":"feature_not_found"/,
  'entitlements.checkMany customerId': /"reasonCode":"customer_not_found"/,
  'entitlements.checkMany featureKey': /"reasonCode":"feature_not_found"/,
  'reservations.create customerId': /"reasonCode":"customer_not_found"/,
  'reservations.create featureKey': /"reasonCode":"feature_not_found"/,
  // A product's id is the caller's own text, and a planId of the funnel is kept as it is sent.
  'createPlan productId': /"status":"draft"/,
  'plans.update productId': /"status":"draft"/,
  'funnel.record planId': /"id":"fun_/,
  // Filters of lists. Of the funnel: its own view, which names no plan.
  'plans.list productId': /"data":\[\]/,
  'reservations.list customerId': /"data":\[\]/,
  'subscriptions.list customerId': /"data":\[\]/,
  'subscriptions.list planId': /"data":\[\]/,
  'auditLog.list customerId': /"data":\[\]/,
  'usage.findEvents usageEventId': /"data":\[\]/,
  'funnel.retrieve planId': /"widget_view","sessions":1,/,
};

/**
 * A response as if the foreign object of its request did not exist, in which nothing of `theirs` is shown.
 */
export function isHidden(
  { status, code = '', requested, headers, text }: WatchedResponse,
  { operationId, route, foreign }: CrossingRequest,
  theirs: string[],
): boolean {
  if (theirs.some((one) => (headers + text).includes(one) && !requested.includes(one))) return false;
  if (route.access === 'signature') return code === 'signature_invalid';
  if (route.deprecated) return code === 'endpoint_removed';
  if (foreign === undefined) return status < 300;
  const says = SAY_UNKNOWN[`${operationId} ${foreign}`];
  return says ? status < 300 && says.test(text) : status === 404 && /not_found$/.test(code);
}
