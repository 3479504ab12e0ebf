import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import type { EffectiveEntitlement, EntitlementView } from './resolve-entitlements.ts';

/**
 * What a customer is told to have, by the key of the feature: what is not here is told as not allowed. true
 * of a boolean feature; of the others the limit as canonical decimal text, null where it is unlimited.
 */
export type NotifiedValues = Readonly<Record<string, NotifiedValue>>;

export type NotifiedValue = true | string | null;

/** What `entitlement.changed` says of one feature. */
export interface NotifiedChange {
  featureKey: string;
  allowed: boolean;
  effectiveValue: boolean | ReturnType<typeof exactNumber> | null;
}

/** What a view is told as. A limit of 0 allows nothing, unless it is soft. */
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
 * What is to be told of a customer that was told one thing and has another. A feature that it has no more is
 * worth false, or 0: null would say that it is unlimited.
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
