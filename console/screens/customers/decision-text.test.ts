import { expect, it } from 'vitest';
import { REASON_CODES } from '../../../schemas/reason-codes.ts';
import { byUrgency, limitText, reasonOf, verdictOf } from './decision-text.ts';
import type { Decision } from './shapes.ts';

function decision(reasonCode: Decision['reasonCode'], more: Partial<Decision> = {}): Decision {
  const allowed = reasonCode.startsWith('granted');
  return { allowed, reasonCode, reason: 'As the service says.', ...more } as Decision;
}

it('puts what a limit denies first, and what is not included last and grey', () => {
  const codes = ['granted', 'feature_not_included', 'subscription_paused', 'limit_reached'] as const;
  const sorted = byUrgency(codes.map((code) => decision(code))).map(({ reasonCode }) => reasonCode);
  expect(sorted).toEqual(['limit_reached', 'subscription_paused', 'granted', 'feature_not_included']);
  expect(verdictOf(decision('feature_not_included')).tone).toBe('plain');
  expect(verdictOf(decision('limit_reached')).tone).toBe('bad');
});

it.each(REASON_CODES)('%s is a sentence without raw numbers', (code) => {
  const text = reasonOf(decision(code, { limit: '20000', effectiveValue: '20000', current: '19000' }));
  expect(text).toMatch(/^[A-Z].*\.$/);
  expect(text).not.toMatch(/\d{4}/);
});

it('says up to how many', () => {
  expect(reasonOf(decision('granted', { effectiveValue: '20' }))).toBe('Up to 20.');
});

/** Red when a paused customer reads as one without a limit. */
it('tells no access from no limit', () => {
  const denied = decision('subscription_paused');
  expect(limitText(undefined, [denied])).toBe('No access');
  expect(limitText(undefined, [denied, decision('granted_unlimited')])).toBe('Unlimited');
  expect(limitText(undefined, [])).toBe('Not limited');
  expect(limitText('20000', [denied])).toBe('20,000');
});
