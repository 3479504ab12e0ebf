import { expect, it } from 'vitest';
import { exactBody } from '../../api/exact-body.ts';
import { type Draft, differences, draftOf, entitlementsOf, faultOf } from './entitlement-drafts.ts';
import type { Feature, Given } from './shapes.ts';

const given: Given[] = [
  { featureKey: 'api', type: 'metered', value: '1000.50', soft: true },
  { featureKey: 'seats', type: 'limit', value: null, soft: false },
  { featureKey: 'sso', type: 'boolean', value: true, soft: false },
];
const features = ['api', 'seats', 'sso', 'new'].map((key) => ({ key }) as Feature);

function draftsWith(changes: Record<string, Draft> = {}): Map<string, Draft> {
  return new Map(features.map((one) => [one.key, changes[one.key] ?? draftOf(one, given)]));
}

it('is the set that the plan has until something is changed, digit by digit', () => {
  const next = entitlementsOf(given, draftsWith());
  expect(differences(given, next)).toEqual([]);
  expect(exactBody(next[0])).toBe('{"featureKey":"api","value":1000.50,"soft":true}');
});

/** Red when features beyond those that are shown are lost by an edit. */
it('keeps what is not edited', () => {
  const drafts = draftsWith();
  drafts.delete('sso');
  expect(entitlementsOf(given, drafts)).toContainEqual({ featureKey: 'sso', value: true });
});

/** Red when the form sends only what it shows: what a later release adds would be lost by an edit. */
it('keeps what the form does not show of an entitlement', () => {
  const [first] = given.map((one) => ({ ...one, later: 'x' }));
  const sets = [draftsWith(), new Map()].map((drafts) => entitlementsOf(first ? [first] : [], drafts));
  for (const [kept] of sets) expect(kept).toMatchObject({ featureKey: 'api', later: 'x' });
});

it('names what is added, removed and changed', () => {
  const next = entitlementsOf(
    given,
    draftsWith({
      new: { kind: 'yes', limit: '', soft: false },
      sso: { kind: 'none', limit: '', soft: false },
      seats: { kind: 'limit', limit: '60,000', soft: false },
    }),
  );
  expect(differences(given, next)).toEqual([
    { name: 'new', before: undefined, after: 'Included' },
    { name: 'seats', before: 'Unlimited', after: '60,000' },
    { name: 'sso', before: 'Included', after: undefined },
  ]);
});

it('cannot be sent with a limit that is no number', () => {
  expect(faultOf({ kind: 'limit', limit: '1,5', soft: false })).toContain('Enter a number');
  expect(faultOf({ kind: 'limit', limit: '60,000', soft: false })).toBeUndefined();
  expect(faultOf({ kind: 'unlimited', limit: '', soft: false })).toBeUndefined();
});
