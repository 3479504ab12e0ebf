import type { Pool, PoolClient } from 'pg';
import { byBurnOrder } from '../rules/credit-order.ts';
import { creditText, creditUnits } from '../rules/credit-units.ts';
import { type CreditUses, type GrantAmount, giveBack, put } from '../rules/credit-uses.ts';
import { findGrants, type GrantRow, updateRemaining } from '../store/credit-grants.ts';
import { readUses, replaceUses, type UseRow } from '../store/credit-uses.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';
import type { CustomerBurns, UnitsBurn } from './customer-burns.ts';
import { moveCredits, type OpenWallet, type OpenWallets, walletOf } from './open-wallets.ts';

/**
 * Gives back what usage had burned and, corrected, does not cost any more: first to the unpaid rest, then to
 * the grants that it came from. Of a grant that has expired by now it expires again at once.
 */
export async function returnCredits(
  db: Pool | PoolClient,
  { wallets, now }: OpenWallets,
  customers: readonly CustomerBurns[],
): Promise<void> {
  if (customers.length === 0) return;
  const uses = await readUsesOf(db, customers);
  const ids = [...uses.values()].flatMap((meters) => [...meters.values()].flatMap((own) => [...own.keys()]));
  const grants = (await findGrants(db, [...new Set(ids)])).sort(byBurnOrder);
  const remaining = new Map(grants.map((grant) => [grant.id, creditUnits(grant.remaining)]));
  const rows: UseRow[] = [];
  for (const one of customers) {
    const used: CreditUses = uses.get(one.customerId) ?? new Map();
    const own = grants.filter(({ customerId }) => customerId === one.customerId);
    for (const burn of one.burns) {
      const given = giveBack(
        used,
        { ...burn, units: -burn.units },
        own.map(({ id }) => id),
      );
      const returned = datedGrants(given.grants, own, now);
      enter(walletOf({ wallets }, one), burn, { ...given, grants: returned });
      for (const { grantId, units, isExpired } of returned) {
        if (!isExpired) remaining.set(grantId, (remaining.get(grantId) ?? 0n) + units);
      }
    }
    rows.push(...rowsOf(one, used));
  }
  await updateRemaining(
    db,
    grants.map(({ environment, id }) => ({
      environment,
      id,
      remaining: creditText(remaining.get(id) ?? 0n),
    })),
  );
  await replaceUses(db, customers, rows);
}

interface Given extends GrantAmount {
  isExpired: boolean;
}

function datedGrants(given: readonly GrantAmount[], grants: readonly GrantRow[], now: Date): Given[] {
  return given.map((one) => {
    const expiresAt = grants.find(({ id }) => id === one.grantId)?.expiresAt ?? null;
    return { ...one, isExpired: expiresAt !== null && expiresAt <= now };
  });
}

function enter(
  wallet: OpenWallet,
  { meterKey, periodStart }: UnitsBurn,
  { grants, unpaid }: { grants: readonly Given[]; unpaid: bigint },
): void {
  const { isDepleted } = wallet;
  const balance = grants.reduce((sum, { units }) => sum + units, 0n);
  moveCredits(wallet, { type: 'reversal', meterKey, periodStart }, { balance, unpaid: -unpaid });
  for (const { grantId, units, isExpired } of grants) {
    if (isExpired) moveCredits(wallet, { type: 'expiry', grantId }, { balance: -units });
  }
  // What comes back and is spent at once has depleted nothing.
  wallet.isDepleted = isDepleted;
}

/** By customer, and by meter and grant. */
export async function readUsesOf(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
): Promise<Map<string, CreditUses>> {
  const uses = new Map<string, CreditUses>();
  for (const { customerId, meterKey, grantId, amount } of await readUses(db, places)) {
    const own = uses.get(customerId) ?? new Map();
    uses.set(customerId, own);
    put(own, { meterKey, grantId, units: creditUnits(amount) });
  }
  return uses;
}

export function rowsOf({ environment, customerId }: WalletPlace, uses: CreditUses): UseRow[] {
  return [...uses].flatMap(([meterKey, own]) =>
    [...own].map(([grantId, units]) => ({
      environment,
      customerId,
      meterKey,
      grantId,
      amount: creditText(units),
    })),
  );
}
