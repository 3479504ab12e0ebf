import type { Pool, PoolClient } from 'pg';
import { Defect } from '../../schemas/failures.ts';
import { takeCredits } from '../../schemas/rules/credit-order.ts';
import { creditText, creditUnits, smaller } from '../../schemas/rules/credit-units.ts';
import {
  findBurnable,
  type GrantRow,
  insertGrant,
  type RemainingRow,
  updateRemaining,
} from '../store/credit-grants.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';
import { closeWallets, moveCredits, type OpenWallet, openWallets } from './open-wallets.ts';

/** What usage of a meter costs a customer. */
export interface CreditBurn extends WalletPlace {
  meterKey: string;
  /** Of the billing period to which the usage belongs. */
  periodStart: Date;
  /** Decimal text of at most 24 fraction digits; never negative. */
  amount: string;
}

/**
 * Burns credits of any number of customers within the caller's transaction, in a handful of statements: what
 * has expired is taken out first, then grants give in their order, and what none covers joins the unpaid
 * rest. A transaction does so once, for all its customers: rivals then wait for each other in one order.
 */
export async function burnCredits(
  db: Pool | PoolClient,
  { nowMs, burns }: { nowMs: number; burns: readonly CreditBurn[] },
): Promise<void> {
  const dues = duesOf(burns);
  if (dues.size === 0) return;
  const now = new Date(nowMs);
  const wallets = await openWallets(db, [...dues.values()], now);
  const amounts = [...dues.values()].map((due) => ({ ...due, amount: creditText(due.units) }));
  const grants = new Map<string, GrantRow[]>();
  for (const row of await findBurnable(db, amounts, now)) addTo(grants, row.customerId, row);
  const left: RemainingRow[] = [];
  for (const [customerId, due] of dues) {
    const wallet = wallets.get(customerId);
    if (!wallet) throw new Defect(`no wallet of ${customerId} in ${due.environment}`);
    left.push(...burnFrom(wallet, grants.get(customerId) ?? [], due));
  }
  if (left.length > 0) await updateRemaining(db, left);
  await closeWallets(db, wallets.values(), now);
}

/** All that one customer is to burn: in units of 10^-24, and by meter and period. */
interface CustomerDue extends WalletPlace {
  units: bigint;
  burns: Map<string, UnitsBurn>;
}

interface UnitsBurn {
  meterKey: string;
  periodStart: Date;
  units: bigint;
}

function duesOf(burns: readonly CreditBurn[]): Map<string, CustomerDue> {
  const dues = new Map<string, CustomerDue>();
  for (const { environment, customerId, meterKey, periodStart, amount } of burns) {
    const units = creditUnits(amount);
    if (units < 0n) throw new Defect('a burn gives nothing back');
    if (units === 0n) continue;
    const due = dues.get(customerId) ?? { environment, customerId, units: 0n, burns: new Map() };
    dues.set(customerId, due);
    due.units += units;
    const place = `${periodStart.getTime()} ${meterKey}`;
    const before = due.burns.get(place)?.units ?? 0n;
    due.burns.set(place, { meterKey, periodStart, units: before + units });
  }
  return dues;
}

/** What is left of the grants that gave. */
function burnFrom(wallet: OpenWallet, rows: readonly GrantRow[], due: CustomerDue): RemainingRow[] {
  const grants = rows.map((row) => ({ ...row, remaining: creditUnits(row.remaining) }));
  const { takings, rest } = takeCredits(grants, due.units);
  let covered = due.units - rest;
  for (const { meterKey, periodStart, units } of due.burns.values()) {
    const given = smaller(covered, units);
    covered -= given;
    const reference = { type: 'burn', meterKey, periodStart } as const;
    moveCredits(wallet, reference, { balance: -given, unpaid: units - given });
  }
  return takings.map(({ grantId, remaining }) => ({
    environment: wallet.environment,
    id: grantId,
    remaining: creditText(remaining),
  }));
}

/**
 * Adds a grant to a customer's wallet within the caller's transaction. It pays the unpaid rest first. Gives
 * it with what that leaves of it.
 */
export async function grantCredits(
  db: Pool | PoolClient,
  grant: Omit<GrantRow, 'remaining'>,
): Promise<GrantRow> {
  const { id: grantId, customerId, createdAt: now } = grant;
  const wallets = await openWallets(db, [grant], now);
  const wallet = wallets.get(customerId);
  if (!wallet) throw new Defect(`no wallet of ${customerId} in ${grant.environment}`);
  const units = creditUnits(grant.amount);
  const repaid = smaller(wallet.unpaid, units);
  const row = { ...grant, remaining: creditText(units - repaid) };
  await insertGrant(db, row);
  moveCredits(wallet, { type: 'grant', grantId }, { balance: units });
  if (repaid > 0n) {
    const reference = { type: 'repayment', grantId } as const;
    moveCredits(wallet, reference, { balance: -repaid, unpaid: -repaid });
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
