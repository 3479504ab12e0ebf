import type { Listed, Responded } from '../../api/wire.ts';
import { amount } from '../../design/figures.ts';

export type Customer = Responded<'customers.retrieve'>;
export type Budget = Listed<'budgets.list'>;
export type Feature = Listed<'features.list'>;
export type Decision = Responded<'entitlements.checkMany'>['data'][number];

/** The value of an entitlement in words. */
export function valueText(value: boolean | string | null | undefined): string {
  if (value === null) return 'unlimited';
  if (value === undefined) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : amount(value);
}
