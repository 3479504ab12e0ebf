import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactNumber, numberText } from '../../schemas/primitives/exact-json.ts';
import {
  type NotifiedChange,
  type NotifiedValue,
  notifiedChanges,
  notifiedValues,
} from './entitlement-changes.ts';
import type { EffectiveEntitlement } from './resolve-entitlements.ts';

/*
 * The events about a customer's entitlements. Mutants that turn it red: null for a limit that was removed, a
 * limit of 0 as allowed, a soft limit of 0 as not allowed, the sum of a value compared as a number.
 */
const value = fc.oneof(
  fc.constant(true as const),
  fc.constant(null),
  fc.constantFrom('0', '1', '10', '10.5', '999999999999999'),
);
// Names that every object has, too.
const key = fc.constantFrom('sso', 'seats', 'calls', 'constructor', 'toString');
const values = fc.dictionary(key, value, { maxKeys: 5 });

describe('the emitted changes', () => {
  it('bring a receiver from the last emitted state to the current one, and contain nothing else', () => {
    fc.assert(
      fc.property(values, values, (notified, held) => {
        const changes = notifiedChanges(notified, held);
        expect(changes.reduce(applied, new Map(Object.entries(notified)))).toEqual(
          new Map(Object.entries(held)),
        );
        expect(new Set(changes.map(({ featureKey }) => featureKey)).size).toBe(changes.length);
        for (const { featureKey } of changes)
          expect(valueAt(held, featureKey)).not.toBe(valueAt(notified, featureKey));
        expect(notifiedChanges(held, held)).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('of a removed feature is that it is worth false or 0, never null, which is unlimited', () => {
    expect(notifiedChanges({ sso: true, seats: '5', storage: null }, {})).toEqual([
      { featureKey: 'sso', allowed: false, effectiveValue: false },
      { featureKey: 'seats', allowed: false, effectiveValue: exactNumber('0') },
      { featureKey: 'storage', allowed: false, effectiveValue: exactNumber('0') },
    ]);
  });

  it('of a feature that is held is its value, to the last digit', () => {
    expect(
      notifiedChanges({ seats: '1' }, { sso: true, seats: '123456789.000000000001', storage: null }),
    ).toEqual([
      { featureKey: 'sso', allowed: true, effectiveValue: true },
      { featureKey: 'seats', allowed: true, effectiveValue: exactNumber('123456789.000000000001') },
      { featureKey: 'storage', allowed: true, effectiveValue: null },
    ]);
  });

  it('as allowed is what a check may allow: true, more than 0, unlimited, and 0 where it is soft', () => {
    const features = new Map(
      Object.entries({
        sso: held({ type: 'boolean', value: true }),
        audit: held({ type: 'boolean', value: false }),
        seats: held({ value: '5' }),
        none: held({ value: '0' }),
        soft: held({ value: '0', soft: true }),
        storage: held({ value: null }),
      }),
    );
    expect(notifiedValues({ features, withheld: new Map(), standing: 'counts' })).toEqual({
      sso: true,
      seats: '5',
      soft: '0',
      storage: null,
    });
  });
});

/** As a receiver keeps it. */
function applied(kept: Map<string, NotifiedValue>, change: NotifiedChange): Map<string, NotifiedValue> {
  const { featureKey, allowed, effectiveValue } = change;
  if (!allowed) kept.delete(featureKey);
  else kept.set(featureKey, numberText(effectiveValue) ?? (effectiveValue as true | null));
  return kept;
}

function valueAt(of: Record<string, NotifiedValue>, featureKey: string): NotifiedValue | undefined {
  return Object.hasOwn(of, featureKey) ? of[featureKey] : undefined;
}

function held(fields: Partial<EffectiveEntitlement>): EffectiveEntitlement {
  return {
    type: 'limit',
    meterKey: null,
    value: null,
    soft: false,
    sources: ['plan:a'],
    contributions: [],
    isOverride: false,
    graceEndsMs: undefined,
    ...fields,
  };
}
