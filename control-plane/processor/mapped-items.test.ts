import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapItems, type PresentItems } from './mapped-items.ts';

/*
 * Mutants this suite catches: the last of two quantities used; one of two plans guessed; an add-on that was
 * attached here removed; one removed while not all items are shown; no bound on quantity or number.
 */
const MAPPED = [
  { priceId: 'pro', planId: 'plan_pro', addonId: null },
  { priceId: 'team', planId: 'plan_team', addonId: 'addon_seats' },
  { priceId: 'seats', planId: null, addonId: 'addon_seats' },
  { priceId: 'support', planId: null, addonId: 'addon_support' },
  { priceId: 'old', planId: 'plan_old', addonId: null, isPlanArchived: true },
].map((one) => ({ isPlanArchived: false, ...one }));
const NOTHING: PresentItems = { addons: [], processorAddonIds: [] };

const item = (priceId: string, quantity = 1) => ({ priceId, quantity });
const map = (items: Array<ReturnType<typeof item>>, held: Partial<PresentItems> = {}) =>
  mapItems({ items }, MAPPED, { ...NOTHING, ...held });

describe('items', () => {
  it('are the plan and the add-ons that their prices are mapped to', () => {
    expect(map([item('pro'), item('seats', 3), item('support')])).toEqual({
      planId: 'plan_pro',
      put: [
        { addonId: 'addon_seats', quantity: 3 },
        { addonId: 'addon_support', quantity: 1 },
      ],
      removed: [],
      missingPrices: [],
      reasons: [],
    });
  });

  it('of a price with a plan and an add-on are that plan, with as many of it', () => {
    expect(map([item('team', 7)])).toMatchObject({
      planId: 'plan_team',
      put: [{ addonId: 'addon_seats', quantity: 7 }],
    });
  });

  it('of one add-on are added up, and none is none', () => {
    expect(map([item('team', 2), item('seats', 3)]).put).toEqual([{ addonId: 'addon_seats', quantity: 5 }]);
    expect(map([item('pro', 0), item('seats', 0)])).toMatchObject({ planId: 'plan_pro', put: [] });
  });

  it('that are not mapped are named, each once', () => {
    const { missingPrices, reasons, planId } = map([item('x'), item('pro'), item('x'), item('y')]);
    expect([missingPrices, reasons, planId]).toEqual([['x', 'y'], ['price_not_mapped'], 'plan_pro']);
  });

  it('of two plans leave it on one of them, and are none where it is on neither', () => {
    const both = [item('pro'), item('team')];
    expect(map(both, { planId: 'plan_team' })).toMatchObject({ planId: 'plan_team', reasons: [] });
    expect(map(both, { planId: 'plan_other' }).reasons).toEqual(['several_plans']);
    expect(map(both)).not.toHaveProperty('planId');
  });

  it('of an archived plan keep a subscription on it, and move none to it', () => {
    expect(map([item('old')])).toMatchObject({ put: [], reasons: ['plan_archived'] });
    expect(map([item('old')])).not.toHaveProperty('planId');
    expect(map([item('old')], { planId: 'plan_old' })).toMatchObject({ planId: 'plan_old', reasons: [] });
  });

  it('that are missing remove what the processor attached, and nothing else', () => {
    const addons = [
      { addonId: 'addon_seats', quantity: 3 },
      { addonId: 'addon_gift', quantity: 1 },
    ];
    const held = { addons, processorAddonIds: ['addon_seats'] };
    expect(map([item('pro')], held)).toMatchObject({ put: [], removed: ['addon_seats'] });
    expect(map([item('pro'), item('seats', 3)], held)).toMatchObject({ put: [], removed: [] });
    const shown = { items: [item('pro')], hasMoreItems: true as const };
    expect(mapItems(shown, MAPPED, { ...NOTHING, ...held })).toMatchObject({ removed: [] });
  });

  it('beyond what an add-on or a subscription may have leave the add-ons as they are', () => {
    expect(map([item('seats', 1_000_001)])).toMatchObject({ put: [], reasons: ['quantity_out_of_range'] });
    const addons = Array.from({ length: 20 }, (_, at) => ({ addonId: `addon_${at}`, quantity: 1 }));
    expect(map([item('pro'), item('seats')], { addons })).toMatchObject({
      planId: 'plan_pro',
      put: [],
      reasons: ['too_many_addons'],
    });
  });

  it('request nothing more once they match', () => {
    const one = fc.record({
      priceId: fc.constantFrom('pro', 'team', 'seats', 'support', 'x'),
      quantity: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(one), fc.array(one), (before, items) => {
        const first = settled(NOTHING, before);
        const then = settled(first, items);
        expect(mapItems({ items }, MAPPED, then)).toMatchObject({ put: [], removed: [] });
      }),
      { numRuns: 1_000 },
    );
  });
});

function settled(held: PresentItems, items: Array<ReturnType<typeof item>>): PresentItems {
  const { planId = held.planId, put, removed } = mapItems({ items }, MAPPED, held);
  const kept = held.addons.filter(({ addonId }) => {
    return !removed.includes(addonId) && !put.some((other) => other.addonId === addonId);
  });
  const addons = [...kept, ...put];
  const mine = [...new Set([...held.processorAddonIds, ...put.map(({ addonId }) => addonId)])];
  const processorAddonIds = mine.filter((addonId) => !removed.includes(addonId));
  return { ...(planId === undefined ? {} : { planId }), addons, processorAddonIds };
}
