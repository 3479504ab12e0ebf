import { findManyCustomerGrants } from '../../../domain/find-customer-grants.ts';
import { findWallets } from '../../../domain/store/credit-wallets.ts';
import { readTermsOfCustomers, termsByMeter } from '../../../domain/store/metered-terms.ts';
import { groupBy } from '../../../schemas/primitives/group-by.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { findCustomerIds } from '../../store/find-customer-id.ts';
import { readGrantCounts, readMarks } from '../../store/grant-versions.ts';
import type { ReadCustomer } from './cached-customer.ts';
import type { LargeCustomer } from './customer-cache.ts';
import type { CustomerGrantsReads } from './customer-grants-reads.ts';
import { GRANTS_MAX } from './read-customer.ts';

interface ReadDeps {
  context: Pick<RequestContext, 'db' | 'environment' | 'nowMs'>;
  customerGrantsReads: CustomerGrantsReads;
}

/** As read-customer.ts, of many customers in a handful of statements, by their requested names. */
export function readCustomers(
  { context, customerGrantsReads }: ReadDeps,
  names: readonly string[],
): Promise<Map<string, ReadCustomer | LargeCustomer>> {
  const { environment, nowMs } = context;
  const now = new Date(nowMs);
  return customerGrantsReads(context, async (db) => {
    const idOf = await findCustomerIds(db, environment, names);
    const byId = new Map<string, ReadCustomer | LargeCustomer>();
    const customerIds = [...new Set(idOf.values())];
    const counted = await readGrantCounts(db, environment, { customerIds, grantsMax: GRANTS_MAX });
    for (const { customerId, grants } of counted) {
      if (grants > GRANTS_MAX) byId.set(customerId, { environment, customerId, isLarge: true });
    }
    const few = customerIds.filter((id) => !byId.has(id));
    if (few.length > 0) {
      const places = few.map((customerId) => ({ environment, customerId }));
      const marks = new Map((await readMarks(db, places)).map((one) => [one.customerId, one.mark]));
      const wanted = {
        environment,
        customerIds: few,
        atMs: nowMs,
        featureIds: 'all' as const,
        meterKeys: [],
      };
      const found = await findManyCustomerGrants(db, wanted);
      const since = few.map((customerId) => ({ customerId, from: now }));
      const terms = groupBy(await readTermsOfCustomers(db, environment, since), (one) => one.customerId);
      const wallets = new Map((await findWallets(db, places, now)).map((one) => [one.customerId, one]));
      for (const [id, customer] of found) {
        const mark = marks.get(id);
        if (mark === undefined) continue;
        const credits = wallets.get(id) ?? NO_CREDITS;
        byId.set(id, { environment, ...customer, terms: termsByMeter(terms.get(id) ?? []), credits, mark });
      }
    }
    return new Map(
      [...idOf].flatMap(([name, id]) => {
        const customer = byId.get(id);
        return customer ? [[name, customer] as const] : [];
      }),
    );
  });
}

const NO_CREDITS = { balance: '0', unpaid: '0', nextExpiryAt: null };
