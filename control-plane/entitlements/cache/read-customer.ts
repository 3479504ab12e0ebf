import { findCustomerGrants } from '../../../domain/find-customer-grants.ts';
import { findWallets } from '../../../domain/store/credit-wallets.ts';
import { readTermsOfCustomers, termsByMeter } from '../../../domain/store/metered-terms.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { readSizedMark } from '../../store/grant-versions.ts';
import type { ReadCustomer } from './cached-customer.ts';
import type { LargeCustomer } from './customer-cache.ts';
import type { CustomerGrantsReads } from './customer-grants-reads.ts';

/** Customers with more grants than that, a million perhaps, are not cached, nor read with others. */
export const GRANTS_MAX = 1_000;

const NO_CREDITS = { balance: '0', unpaid: '0', nextExpiryAt: null };

/** All grants of a customer, by id or external id, with the mark that changes with them. */
export function readCustomer(
  { context, customerGrantsReads }: { context: RequestContext; customerGrantsReads: CustomerGrantsReads },
  customer: string,
): Promise<ReadCustomer | LargeCustomer | undefined> {
  const { environment, nowMs } = context;
  return customerGrantsReads(context, async (db) => {
    const found = await readSizedMark(db, environment, { customer, grantsMax: GRANTS_MAX });
    if (!found) return undefined;
    const { customerId, mark, grants } = found;
    if (grants > GRANTS_MAX) return { environment, customerId, isLarge: true };
    const question = { environment, customer: customerId, atMs: nowMs, meterKeys: [] };
    const withGrants = await findCustomerGrants(db, { ...question, featureIds: 'all' });
    if (!withGrants) return undefined;
    const [credits = NO_CREDITS] = await findWallets(db, [{ environment, customerId }], new Date(nowMs));
    const terms = await readTermsOfCustomers(db, environment, [{ customerId, from: new Date(nowMs) }]);
    return { environment, ...withGrants, terms: termsByMeter(terms), credits, mark };
  });
}
