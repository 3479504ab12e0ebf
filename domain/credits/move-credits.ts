import type { Pool, PoolClient } from 'pg';
import { takeCredits } from '../rules/credit-order.ts';
import { creditText, creditUnits, smaller } from '../rules/credit-units.ts';
import { type GrantAmount, payUnpaid, spread, UNPAID } from '../rules/credit-uses.ts';
import {
  findBurnable,
  type GrantRow,
  insertGrant,
  type RemainingRow,
  updateRemaining,
} from '../store/credit-grants.ts';
import { addUses, replaceUses, type UseRow } from '../store/credit-uses.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';
import { burnsOfCustomers, type CreditBurn, type CustomerBurns, unitsOf } from './customer-burns.ts';
import {
  closeWallets,
  moveCredits,
  type OpenWallet,
  type OpenWallets,
  openWallets,
  walletOf,
} from './open-wallets.ts';
import { readUsesOf, returnCredits, rowsOf } from './return-credits.ts';

/**
 * Burns credits of any number of customers within the caller's transaction, in a handful of statements: what
 * has expired is taken out first, what was burned too much is returned where it came from, then grants give
 * in their order, and what none covers joins the unpaid rest. A transaction does so once, for all its
 * customers: rivals then wait for each other in one order.
 */
export async function burnCredits(
  db: Pool | PoolClient,
  { nowMs, burns }: { nowMs: number; burns: readonly CreditBurn[] },
): Promise<void> {
  const all = burnsOfCustomers(burns);
  if (all.length === 0) return;
  const now = new Date(nowMs);
  const wallets = await openWallets(db, all, now);
  const some = (isMeant: (units: bigint) => boolean) =>
    all
      .map((one) => ({ ...one, burns: one.burns.filter(({ units }) => isMeant(units)) }))
      .filter((one) => one.burns.length > 0);
  await returnCredits(
    db,
    { wallets, now },
    some((units) => units < 0n),
  );
  await takeFromGrants(
    db,
    { wallets, now },
    some((units) => units > 0n),
  );
  await closeWallets(db, wallets.values(), now);
}

async function takeFromGrants(
  db: Pool | PoolClient,
  { wallets, now }: OpenWallets,
  customers: readonly CustomerBurns[],
): Promise<void> {
  if (customers.length === 0) return;
  const dues = customers.map((one) => ({ ...one, amount: creditText(unitsOf(one)) }));
  const grants = new Map<string, GrantRow[]>();
  for (const row of await findBurnable(db, dues, now)) addTo(grants, row.customerId, row);
  const left: RemainingRow[] = [];
  const uses: UseRow[] = [];
  for (const one of customers) {
    const taken = burnFrom(walletOf({ wallets }, one), grants.get(one.customerId) ?? [], one);
    left.push(...taken.left);
    uses.push(...taken.uses);
  }
  if (left.length > 0) await updateRemaining(db, left);
  await addUses(db, uses);
}

/** What is left of the grants that gave, and what they gave it for. */
function burnFrom(
  wallet: OpenWallet,
  rows: readonly GrantRow[],
  due: CustomerBurns,
): { left: RemainingRow[]; uses: UseRow[] } {
  const { environment, customerId } = due;
  const grants = rows.map((row) => ({ ...row, remaining: creditUnits(row.remaining) }));
  const { takings } = takeCredits(grants, unitsOf(due));
  const uses: UseRow[] = [];
  const paying = takings.map(({ grantId, taken }): GrantAmount => ({ grantId, units: taken }));
  for (const { burn, paid, unpaid } of spread(due.burns, paying)) {
    const { meterKey, periodStart, units } = burn;
    moveCredits(wallet, { type: 'burn', meterKey, periodStart }, { balance: unpaid - units, unpaid });
    for (const { grantId, units: given } of [...paid, { grantId: UNPAID, units: unpaid }]) {
      if (given > 0n) uses.push({ environment, customerId, meterKey, grantId, amount: creditText(given) });
    }
  }
  const left = takings.map(({ grantId, remaining }) => ({
    environment,
    id: grantId,
    remaining: creditText(remaining),
  }));
  return { left, uses };
}

/**
 * Adds a grant to a customer's wallet within the caller's transaction. It pays the unpaid rest first. Gives
 * it with what that leaves of it.
 */
export async function grantCredits(
  db: Pool | PoolClient,
  grant: Omit<GrantRow, 'remaining'>,
): Promise<GrantRow> {
  const { id: grantId, createdAt: now } = grant;
  const wallets = await openWallets(db, [grant], now);
  const wallet = walletOf({ wallets }, grant);
  const units = creditUnits(grant.amount);
  const repaid = smaller(wallet.unpaid, units);
  const row = { ...grant, remaining: creditText(units - repaid) };
  await insertGrant(db, row);
  moveCredits(wallet, { type: 'grant', grantId }, { balance: units });
  if (repaid > 0n) {
    const reference = { type: 'repayment', grantId } as const;
    moveCredits(wallet, reference, { balance: -repaid, unpaid: -repaid });
    const uses = (await readUsesOf(db, [grant])).get(grant.customerId) ?? new Map();
    payUnpaid(uses, { grantId, units: repaid });
    await replaceUses(db, [grant], rowsOf(grant, uses));
  }
  await closeWallets(db, wallets.values(), now);
  return row;
}

/** Takes out of these wallets what has expired. */
export async function expireCredits(
  db: Pool | PoolClient,
  { nowMs, places }: { nowMs: number; places: readonly WalletPlace[] },
): Promise<void> {
  const now = new Date(nowMs);
  const wallets = await openWallets(db, places, now);
  await closeWallets(db, wallets.values(), now);
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
