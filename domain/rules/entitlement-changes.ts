import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import type { EffectiveEntitlement, EntitlementView } from './resolve-entitlements.ts';

/**
 * What a customer is told to have, by the key of the feature: what is not here is told as not allowed. true
 * of a boolean feature; of the others the limit as canonical decimal text, null where it is unlimited.
 */
export type ToldValues = Readonly<Record<string, ToldValue>>;

export type ToldValue = true | string | null;

/** What `entitlement.changed` says of one feature. */
export interface ToldChange {
  featureKey: string;
  allowed: boolean;
  effectiveValue: boolean | ReturnType<typeof exactNumber> | null;
}

/** What a view is told as. A limit of 0 allows nothing, unless it is soft. */
export function toldValues({ features }: EntitlementView): ToldValues {
  return Object.fromEntries(
    [...features].flatMap(([key, held]) => {
      const value = toldValue(held);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function toldValue({ value, soft }: EffectiveEntitlement): ToldValue | undefined {
  if (typeof value === 'boolean') return value || undefined;
  return value === '0' && !soft ? undefined : value;
}

/**
 * What is to be told of a customer that was told one thing and has another. A feature that it has no more is
 * worth false, or 0: null would say that it is unlimited.
 */
export function toldChanges(told: ToldValues, held: ToldValues): ToldChange[] {
  const gone = Object.entries(told).filter(([key]) => !Object.hasOwn(held, key));
  const given = Object.entries(held).filter(([key, value]) => !isTold(told, key, value));
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

function isTold(told: ToldValues, key: string, value: ToldValue): boolean {
  return Object.hasOwn(told, key) && told[key] === value;
}
