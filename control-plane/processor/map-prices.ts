import { Rejected } from '../../schemas/failures.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type PriceOwner, replacePrices } from '../store/processor-prices.ts';
import { whenTaken } from '../store/unique-violation.ts';

/**
 * Makes these the prices of a plan or an add-on. The catalogue is locked. Events that waited for one of them
 * are applied within seconds (processor-matcher.ts). Throws Rejected `already_exists` for a price of another
 * plan or add-on.
 */
export async function mapPrices(
  { db, environment }: RequestContext,
  owner: PriceOwner,
  priceIds: readonly string[],
): Promise<void> {
  const kind = 'planId' in owner ? 'plan' : 'add-on';
  const taken = () =>
    new Rejected('already_exists', `Another ${kind} has one of these processorPriceIds.`, {
      param: 'processorPriceIds',
    });
  await replacePrices(db, environment, owner, priceIds).catch(whenTaken(taken));
}

/** Whether a list names other prices than the present ones, in any order. */
export function isOtherPrices(before: readonly string[], after: readonly string[]): boolean {
  return before.length !== after.length || after.some((priceId) => !before.includes(priceId));
}
