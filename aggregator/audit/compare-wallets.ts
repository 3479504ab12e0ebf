import type { Pool, PoolClient } from 'pg';
import { poll } from '../../infra/poll.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { holdSettlement } from '../../infra/store/settlement-lock.ts';
import { markMeters } from '../../infra/store/settlement-marks.ts';
import { Transient } from '../../schemas/failures.ts';
import type { TouchedPair } from '../../schemas/frame.ts';
import { creditText } from '../../schemas/rules/credit-units.ts';
import { costChanges } from '../settle/cost-changes.ts';
import { readPairFacts } from '../settle/pair-facts.ts';
import { readPairUsage } from '../settle/pair-usage.ts';
import { readMetersWithRates, readUsersOf } from '../store/rated-usage.ts';
import { readMarkedMeters } from '../store/settlement-marks.ts';
import { contradictoryWallets, isAllSettled, type WalletSums } from '../store/wallet-sums.ts';

export interface WalletAuditDeps {
  pool: Pool;
  warehouse: Warehouse;
  clock: Clock;
  /** Periods that began before this moment are left alone: not all of their usage is kept. */
  keptFromMs: () => number;
}

/** A wallet whose sums contradict each other. */
export interface WalletDifference extends WalletSums {
  kind: 'wallet';
}

/** A meter whose usage costs something else than was settled. Decimal texts. */
export interface CostDifference {
  kind: 'cost';
  environment: string;
  customerId: string;
  meterKey: string;
  periodStart: string;
  settled: string;
  cost: string;
}

/** Of pairs: those of one standstill of the load, which then goes on for a while. */
const PAGE = { wallets: 5_000, pairs: 1_000 };
/** Pairs of one transaction, which holds up the settlement of others. */
const AT_ONCE_MAX = 200;
/** What is shown of either kind; the rest is found by the next audit. */
const DIFFERENCES_MAX = 1_000;
/** The load stands still meanwhile, and the settler comes to its end. */
const SETTLED = { timeoutMs: 60_000, everyMs: 100 };

/**
 * Proves of each wallet that balance + expired + cost = granted + unpaid, and that cost is what the stored
 * usage costs by the limits and rates of its time. `whileLoadStands` keeps usage from being loaded meanwhile.
 */
export async function compareWallets(
  deps: WalletAuditDeps,
  whileLoadStands: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<Array<WalletDifference | CostDifference>> {
  const wallets = await compareSums(deps.pool);
  const costs = await compareCosts(deps, whileLoadStands);
  return [...wallets, ...costs];
}

async function compareSums(pool: Pool): Promise<WalletDifference[]> {
  const differences: WalletDifference[] = [];
  for (let after = ''; differences.length < DIFFERENCES_MAX; ) {
    const { read, last, wallets } = await contradictoryWallets(pool, { after, limit: PAGE.wallets });
    differences.push(...wallets.map((sums) => ({ kind: 'wallet' as const, ...sums })));
    if (read < PAGE.wallets) break;
    after = last;
  }
  return differences;
}

async function compareCosts(
  deps: WalletAuditDeps,
  whileLoadStands: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<CostDifference[]> {
  const { pool, warehouse, keptFromMs } = deps;
  const differences: CostDifference[] = [];
  for (const meter of await readMetersWithRates(pool)) {
    for (let after = ''; differences.length < DIFFERENCES_MAX; ) {
      const page = { after, fromMs: keptFromMs(), limit: PAGE.pairs };
      const pairs = await readUsersOf(warehouse, meter, page);
      if (pairs.length > 0) differences.push(...(await whileLoadStands(() => comparePage(deps, pairs))));
      if (pairs.length < PAGE.pairs) break;
      after = pairs.at(-1)?.customerId ?? after;
    }
  }
  return differences;
}

async function comparePage(deps: WalletAuditDeps, pairs: readonly TouchedPair[]): Promise<CostDifference[]> {
  const settled = async () => ((await isAllSettled(deps.pool)) ? true : undefined);
  if (!(await poll(settled, SETTLED))) {
    throw new Transient('settlement_behind', 'Not all that is loaded is settled.');
  }
  const differences: CostDifference[] = [];
  for (let left = [...pairs]; left.length > 0; ) {
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
  pairs: readonly TouchedPair[],
): Promise<{ found: CostDifference[]; rest: TouchedPair[] }> {
  const question = { nowMs: clock.nowMs(), keptFromMs: keptFromMs() };
  const { facts, rest } = await readPairFacts(db, pairs, question);
  const usage = await readPairUsage(warehouse, facts);
  const differing = costChanges(usage).filter(({ before, cost }) => before !== cost);
  // A change that came meanwhile is settled next.
  const marked = await readMarkedMeters(
    db,
    differing.map(({ pair }) => pair),
  );
  const changes = differing.filter(({ pair }) => !marked.has(pair));
  const from = changes.map(({ pair, periodStartMs }) => ({ ...pair, from: new Date(periodStartMs) }));
  if (from.length > 0) await markMeters(db, from);
  const found = changes.map(({ pair, periodStartMs, before, cost }) => ({
    kind: 'cost' as const,
    environment: pair.environment,
    customerId: pair.customerId,
    meterKey: pair.meterKey,
    periodStart: new Date(periodStartMs).toISOString(),
    settled: creditText(before),
    cost: creditText(cost),
  }));
  return { found, rest: [...rest, ...facts.slice(usage.facts.length).map(({ pair }) => pair)] };
}
