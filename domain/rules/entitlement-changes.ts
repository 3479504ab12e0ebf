import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import type { EffectiveEntitlement, EntitlementView } from './resolve-entitlements.ts';

/**
 * The emitted state of a customer's entitlements, by the key of the feature: a missing key means not allowed.
 * true for a boolean feature; for others the limit as canonical decimal text, null when it is unlimited.
 */
export type NotifiedValues = Readonly<Record<string, NotifiedValue>>;

export type NotifiedValue = true | string | null;

/** What `entitlement.changed` contains for one feature. */
export interface NotifiedChange {
  featureKey: string;
  allowed: boolean;
  effectiveValue: boolean | ReturnType<typeof exactNumber> | null;
}

/** The state that is emitted for a view. A limit of 0 allows nothing, unless it is soft. */
export function notifiedValues({ features }: EntitlementView): NotifiedValues {
  return Object.fromEntries(
    [...features].flatMap(([key, held]) => {
      const value = notifiedValue(held);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function notifiedValue({ value, soft }: EffectiveEntitlement): NotifiedValue | undefined {
  if (typeof value === 'boolean') return value || undefined;
  return value === '0' && !soft ? undefined : value;
}

/**
 * What to emit for a customer between two states. A feature that the customer no longer has becomes false, or
 * 0: null would mean that it is unlimited.
 */
export function notifiedChanges(notified: NotifiedValues, held: NotifiedValues): NotifiedChange[] {
  const gone = Object.entries(notified).filter(([key]) => !Object.hasOwn(held, key));
  const given = Object.entries(held).filter(([key, value]) => !isNotified(notified, key, value));
  return [
    ...gone.map(([featureKey, was]) => {
      return { featureKey, allowed: false, effectiveValue: was === true ? false : exactNumber('0') };
    }),
    ...given.map(([featureKey, value]) => {
      const effectiveValue = typeof value === 'string' ? exactNumber(value) : value;
      return { featureKey, allowed: true, effectiveValue };
    }),
  ];
}

function isNotified(notified: NotifiedValues, key: string, value: NotifiedValue): boolean {
  return Object.hasOwn(notified, key) && notified[key] === value;
}
