import type { Listed, Responded } from '../../api/wire.ts';
import { amount } from '../../design/figures.ts';

export type Plan = Responded<'plans.retrieve'>;
export type Feature = Listed<'features.list'>;
export type Given = Responded<'plans.retrieveEntitlements'>['entitlements'][number];
export type Price = Responded<'plans.retrievePrices'>['prices'][number];

/** What a plan gives of a feature, in words. */
export function givenText({ value, soft }: Pick<Given, 'value' | 'soft'>): string {
  if (typeof value === 'boolean') return value ? 'Included' : 'Not included';
  const limit = value === null ? 'Unlimited' : amount(value);
  return soft ? `${limit}, may be exceeded` : limit;
}
