import { expect, it } from 'vitest';
import { createFormats } from '../element/formats.ts';
import { USAGE_LABELS } from './labels.ts';
import { type Decision, usageTexts } from './usage-texts.ts';

/* Red when a limit of 0 divides, or when one that is reached is only near. */
const formats = createFormats('en-US');
const ONE = { featureKey: 'f', reason: '', type: 'metered' } as const;
const resetsAt = '2026-12-01T00:00:00.000Z';

it.each<[decision: Decision, amount: string, share: number | undefined, level: string]>([
  [{ ...ONE, effectiveValue: 100, limit: 100, current: 79 }, '79 of 100', 0.79, 'low'],
  [{ ...ONE, effectiveValue: 100, limit: 100, current: 80 }, '80 of 100', 0.8, 'near'],
  [{ ...ONE, effectiveValue: 100, limit: 100, current: 100 }, '100 of 100', 1, 'over'],
  [{ ...ONE, effectiveValue: 0, limit: 0, current: 0 }, '0 of 0', 1, 'over'],
  [{ ...ONE, effectiveValue: null, current: 1234.5 }, '1,234.5, unlimited', undefined, 'low'],
  [{ ...ONE }, 'Not included', undefined, 'low'],
  [{ ...ONE, type: 'limit', effectiveValue: 25, limit: 25 }, 'Up to 25', undefined, 'low'],
  [{ ...ONE, type: 'limit', effectiveValue: null }, 'Unlimited', undefined, 'low'],
  [{ ...ONE, type: 'boolean', effectiveValue: true }, 'Included', undefined, 'low'],
  [{ ...ONE, type: 'boolean', effectiveValue: false }, 'Not included', undefined, 'low'],
])('%j is shown as %s', (decision, amount, share, level) => {
  const texts = usageTexts(decision, formats, USAGE_LABELS);
  expect([texts.amount, texts.share, texts.level]).toEqual([amount, share, level]);
});

it('says what is left and when it resets', () => {
  const decision: Decision = { ...ONE, effectiveValue: 10, limit: 10, current: 4, remaining: 6, resetsAt };
  const { note } = usageTexts(decision, createFormats('en-GB'), USAGE_LABELS);
  expect(note).toMatch(/^6 left · Resets on (30 Nov|1 Dec) 2026$/);
});
