/** What lists of deliveries can be narrowed to, in the order in which it is looked for. */
export const DELIVERY_FILTERS = [
  ['undelivered', 'Not delivered'],
  ['retrying', 'Waiting to retry'],
  ['failed', 'Failed'],
  ['held', 'Held'],
  ['succeeded', 'Delivered'],
  ['', 'All'],
] as const;

export type DeliveryFilter = (typeof DELIVERY_FILTERS)[number][0];

/** In place of no deliveries. */
export function noDeliveries(filter: string): string {
  if (filter === 'undelivered') return 'Every delivery of the last 30 days has arrived.';
  return 'There is no such delivery in the last 30 days.';
}
