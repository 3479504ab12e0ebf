import type { Pool, PoolClient } from 'pg';
import { creditText } from '../../domain/rules/credit-units.ts';
import { holdSettlement } from '../../domain/store/settlement-lock.ts';
import { markMeters } from '../../domain/store/settlement-marks.ts';
import { poll } from '../../infra/platform/poll.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Transient } from '../../schemas/failures.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { costChanges } from '../settle/cost-changes.ts';
import { readCustomerMeterUsage } from '../settle/customer-meter-usage.ts';
import { readSettlementInputs } from '../settle/settlement-inputs.ts';
import { readBurnedCustomerMeters, readBurnedCustomerMetersOf } from '../store/burned-spans.ts';
import { readMetersWithRates, readUsersAmong, readUsersOf } from '../store/rated-usage.ts';
import { readMarkedMeters } from '../store/settlement-marks.ts';
import {
  contradictoryGrants,
  contradictoryWallets,
  type GrantSums,
  isAllSettled,
  type WalletSums,
} from '../store/wallet-sums.ts';
import type { MeterPlace } from '../store/watched-meters.ts';

export interface WalletAuditDeps {
  pool: Pool;
  warehouse: Warehouse;
  clock: Clock;
  /** Periods that began before this time are not compared: part of their usage is deleted. */
  keptFromMs: () => number;
}

/** A wallet whose sums contradict each other; `no_wallet`: credits, or what was burned, without one. */
export interface WalletDifference extends WalletSums {
  kind: 'wallet' | 'no_wallet';
}

/** A grant of which something else is left, expired and used than it granted. */
export interface GrantDifference extends GrantSums {
  kind: 'grant';
}

/** A meter whose settled cost differs from the cost of its usage, also where there is no usage. Decimals. */
export interface CostDifference {
  kind: 'cost';
  environment: string;
  customerId: string;
  meterKey: string;
  periodStart: string;
  settled: string;
  cost: string;
}

/** Customer meters that are compared in one pause of the load, which then continues for a while. */
const PAGE = { wallets: 5_000, customerMeters: 1_000 };
/** Customer meters of one transaction, which blocks the settlement of others. */
const AT_ONCE_MAX = 200;
/** What is shown of either kind; the rest is found by the next audit. */
const DIFFERENCES_MAX = 1_000;
/** The load is paused meanwhile, and the settler finishes what is loaded. */
const SETTLED = { timeoutMs: 60_000, everyMs: 100 };

type Difference = WalletDifference | GrantDifference | CostDifference;

/**
 * Proves of each wallet that balance + expired + cost = granted + unpaid, of each grant that it granted what
 * is left, expired and used of it, and that cost is what the stored usage costs by the limits and rates of
 * its time. `whilePaused` keeps usage from being loaded meanwhile.
 */
export async function compareWallets(
  deps: WalletAuditDeps,
  whilePaused: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<Difference[]> {
  const wallets = await compareSums(deps.pool);
  const costs = await compareCosts(deps, whilePaused);
  return [...wallets, ...costs];
}

async function compareSums(pool: Pool): Promise<Array<WalletDifference | GrantDifference>> {
  const differences: Array<WalletDifference | GrantDifference> = [];
  for (let after = ''; differences.length < DIFFERENCES_MAX; ) {
    const { wallets, ...page } = await contradictoryWallets(pool, { after, limit: PAGE.wallets });
    for (const { hasWallet, ...sums } of wallets) {
      differences.push({ kind: hasWallet ? 'wallet' : 'no_wallet', ...sums });
    }
    const grants = await contradictoryGrants(pool, page);
    differences.push(...grants.map((sums) => ({ kind: 'grant' as const, ...sums })));
    if (page.read < PAGE.wallets) break;
    after = page.last;
  }
  return differences;
}

async function compareCosts(
  deps: WalletAuditDeps,
  whilePaused: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<CostDifference[]> {
  const differences: CostDifference[] = [];
  for (const meter of await readMetersWithRates(deps.pool)) {
    for (const readPage of [usersWithBurns, burnsWithoutUsage]) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        if (differences.length >= DIFFERENCES_MAX) return differences;
        const { customerMeters, last }: CustomerMeterPage = await readPage(deps, meter, after);
        if (customerMeters.length > 0)
          differences.push(...(await whilePaused(() => comparePage(deps, customerMeters))));
        after = last;
      }
    }
  }
  return differences;
}

/** Customers' use of one meter. Without a last one there are no more behind it. */
interface CustomerMeterPage {
  customerMeters: TouchedCustomerMeter[];
  last: string | undefined;
}

/** Customers that used the meter: from the first to the last hour in which they used or burned something. */
async function usersWithBurns(
  { pool, warehouse, keptFromMs }: WalletAuditDeps,
  meter: MeterPlace,
  after: string,
): Promise<CustomerMeterPage> {
  const fromMs = keptFromMs();
  const users = await readUsersOf(warehouse, meter, { after, fromMs, limit: PAGE.customerMeters });
  const customerIds = users.map(({ customerId }) => customerId);
  const burned = await readBurnedCustomerMetersOf(pool, meter, { customerIds, fromMs });
  const burnedBy = new Map(burned.map((customerMeter) => [customerMeter.customerId, customerMeter]));
  const customerMeters = users.map((used) => {
    const also = burnedBy.get(used.customerId) ?? used;
    const occurredFromMs = Math.min(used.occurredFromMs, also.occurredFromMs);
    return { ...used, occurredFromMs, occurredToMs: Math.max(used.occurredToMs, also.occurredToMs) };
  });
  return { customerMeters, last: lastOf(users) };
}

/** Customers with burns of a meter that they never used. */
async function burnsWithoutUsage(
  { pool, warehouse, keptFromMs }: WalletAuditDeps,
  meter: MeterPlace,
  after: string,
): Promise<CustomerMeterPage> {
  const fromMs = keptFromMs();
  const burned = await readBurnedCustomerMeters(pool, meter, { after, fromMs, limit: PAGE.customerMeters });
  const customerIds = burned.map(({ customerId }) => customerId);
  const users =
    burned.length > 0 ? await readUsersAmong(warehouse, meter, { customerIds, fromMs }) : new Set();
  return { customerMeters: burned.filter(({ customerId }) => !users.has(customerId)), last: lastOf(burned) };
}

function lastOf(customerMeters: readonly TouchedCustomerMeter[]): string | undefined {
  return customerMeters.length < PAGE.customerMeters ? undefined : customerMeters.at(-1)?.customerId;
}

async function comparePage(
  deps: WalletAuditDeps,
  customerMeters: readonly TouchedCustomerMeter[],
): Promise<CostDifference[]> {
  const settled = async () => ((await isAllSettled(deps.pool)) ? true : undefined);
  if (!(await poll(settled, SETTLED))) {
    throw new Transient('settlement_behind', 'Not all that is loaded is settled.');
  }
  const differences: CostDifference[] = [];
  for (let left = [...customerMeters]; left.length > 0; ) {
    const chunk = left.slice(0, AT_ONCE_MAX);
    const again = await inTransaction(deps.pool, async (db) => {
      await holdSettlement(db, new Date(deps.clock.nowMs()));
      const { found, rest } = await differencesOf(db, deps, chunk);
      differences.push(...found);
      return rest;
    });
    left = [...again, ...left.slice(AT_ONCE_MAX)];
  }
  return differences;
}

/** What differs is marked, so that it is settled again. */
async function differencesOf(
  db: PoolClient,
  { warehouse, clock, keptFromMs }: WalletAuditDeps,
  customerMeters: readonly TouchedCustomerMeter[],
): Promise<{ found: CostDifference[]; rest: TouchedCustomerMeter[] }> {
  const question = { nowMs: clock.nowMs(), keptFromMs: keptFromMs() };
  const { facts, rest } = await readSettlementInputs(db, customerMeters, question);
  const usage = await readCustomerMeterUsage({ db, warehouse }, facts);
  const differing = costChanges(usage).filter(({ before, cost }) => before !== cost);
  // A change that came meanwhile is settled next.
  const marked = await readMarkedMeters(
    db,
    differing.map(({ customerMeter }) => customerMeter),
  );
  const changes = differing.filter(({ customerMeter }) => !marked.has(customerMeter));
  const from = changes.map(({ customerMeter, periodStartMs }) => ({
    ...customerMeter,
    from: new Date(periodStartMs),
  }));
  if (from.length > 0) await markMeters(db, from);
  const found = changes.map(({ customerMeter, periodStartMs, before, cost }) => ({
    kind: 'cost' as const,
    environment: customerMeter.environment,
    customerId: customerMeter.customerId,
    meterKey: customerMeter.meterKey,
    periodStart: new Date(periodStartMs).toISOString(),
    settled: creditText(before),
    cost: creditText(cost),
  }));
  return {
    found,
    rest: [...rest, ...facts.slice(usage.facts.length).map(({ customerMeter }) => customerMeter)],
  };
}
