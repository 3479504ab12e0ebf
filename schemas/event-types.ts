import type { ExactNumber } from './primitives/exact-json.ts';
import type { ThresholdKind } from './value-sets.ts';

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
  'usage.threshold': {
    customerId: string;
    meterId: string;
    thresholdValue: ExactNumber;
    /** Soft: a budget's soft threshold, or 80 % of a limit. Hard: a budget's hard one, or the limit. */
    kind: ThresholdKind;
    currentUsage: ExactNumber;
  };
  'credit.granted': { customerId: string; amount: ExactNumber; reason: string };
  /** `balance` is 0. */
  'credit.depleted': { customerId: string; balance: ExactNumber };
  /**
   * One for each feature whose value is another one than the customer was told last. `allowed`: true of a
   * boolean feature, of the others a limit that is more than 0, unlimited or soft; what is used of it does
   * not matter, nor do credits. `effectiveValue`: of a boolean feature as `allowed`; of the others the
   * limit, null where it is unlimited, 0 where it is no longer held.
   */
  'entitlement.changed': {
    customerId: string;
    featureKey: string;
    allowed: boolean;
    effectiveValue: boolean | ExactNumber | null;
  };
}

/** One event to be told, before it has an id. */
export type ChangeEvent = {
  [Type in keyof EventData]: { type: Type; data: EventData[Type] };
}[keyof EventData];
