import { expect, it } from 'vitest';
import { createFormats } from '../element/formats.ts';
import { PRICING_LABELS } from './labels.ts';
import type { OfferedPlan, OfferedPrice } from './offered-plan.ts';
import { lineOf } from './price-texts.ts';

/* Red when small amounts are rounded to cents, or whole ones have decimals. */
const plan: OfferedPlan = {
  ...{ id: 'plan_a', key: 'a', name: 'A', prices: [] },
  entitlements: [
    { featureKey: 'calls', featureName: 'API calls', value: 1, unit: 'call' },
    { featureKey: 'seats', featureName: 'Seats', value: 1 },
  ],
};
const ONE = { key: 'k', currency: 'USD', interval: 'month' } as const;
const TIERS = [{ unitAmount: 0.5 }, { unitAmount: 0.0004 }];

it.each<[locale: string, price: OfferedPrice, text: string]>([
  ['en-US', { ...ONE, model: 'flat', amount: 49, intervalCount: 3 }, '$49 / 3 months'],
  ['en-US', { ...ONE, model: 'flat', amount: 49.5 }, '$49.50 / month'],
  ['en-US', { ...ONE, model: 'per_unit', meterKey: 'calls', unitAmount: 0.00125 }, '$0.00125 / call'],
  [
    'en-US',
    { ...ONE, model: 'per_unit', meterKey: 'disk_space', unitAmount: 1, included: 1000 },
    '$1 / disk space, 1,000 included',
  ],
  ['en-US', { ...ONE, model: 'graduated', meterKey: 'calls', tiers: TIERS }, 'from $0.0004 / call'],
  ['en-US', { ...ONE, model: 'package', meterKey: 'calls', size: 1000, amount: 5 }, '$5 / 1,000 call'],
  [
    'en-US',
    { ...ONE, model: 'percentage', meterKey: 'calls', rate: 0.029, fixed: 0.3 },
    '2.9% + $0.30 / call',
  ],
  ['en-US', { ...ONE, model: 'seat', featureKey: 'seats', unitAmount: 12 }, '$12 / Seats'],
  ['de-DE', { ...ONE, model: 'flat', amount: 1234.5, interval: 'year' }, '1.234,50\u00a0$ / Jahr'],
  ['not a locale', { ...ONE, model: 'flat', amount: 1, description: 'Ask us' }, 'Ask us'],
])('for a reader of %s the price %j is %s', (locale, price, text) => {
  expect(lineOf(price, { plan, formats: createFormats(locale), labels: PRICING_LABELS })).toBe(text);
});
