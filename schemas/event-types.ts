/** What webhooks tell. Source: the specification, Events. The list is closed. */
export const EVENT_TYPES = [
  'customer.created',
  'customer.updated',
  'subscription.created',
  'subscription.updated',
  'subscription.canceled',
  'plan.created',
  'plan.updated',
  'plan.published',
  'plan.archived',
  'feature.updated',
  'feature.deleted',
  'usage.threshold',
  'credit.granted',
  'credit.depleted',
  'entitlement.changed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The `data` of each type; timestamps are texts. */
export interface EventData {
  'customer.created': { customerId: string; customerName: string; customerEmail: string };
  'customer.updated': { customerId: string; changes: string[] };
  'subscription.created': { customerId: string; subscriptionId: string; planId: string };
  'subscription.updated': { subscriptionId: string; status: string; planId: string };
  'subscription.canceled': { subscriptionId: string; canceledAt: string };
  'plan.created': { planId: string; status: string; version: number };
  'plan.updated': { planId: string; version: number };
  'plan.published': { planId: string; status: string; version: number };
  'plan.archived': { planId: string; status: string; version: number };
  'feature.updated': { featureId: string; key: string };
  'feature.deleted': { featureId: string; key: string };
}

/** One event to be told, before it has an id. */
export type ChangeEvent = {
  [Type in keyof EventData]: { type: Type; data: EventData[Type] };
}[keyof EventData];
