import type { PoolClient } from 'pg';
import { creditUnits } from '../rules/credit-units.ts';
import { emptyExpired, findGrants, type GrantRow, setExpiry } from '../store/credit-grants.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';
import { closeWallets, moveCredits, openWallets, walletOf } from './open-wallets.ts';

export interface GrantEnd {
  grantId: string;
  now: Date;
  /** Given the grant, when it is to expire, in place of its present expiry. Undefined: it stays as it is. */
  expiresAt: (grant: GrantRow) => Date | undefined;
}

/**
 * Lets a grant expire at another time, within the caller's transaction; by now: what is left of it goes at
 * once. Credits that come back to it later expire as those of any expired grant. Undefined: the customer has
 * no such grant.
 */
export async function endGrant(
  db: PoolClient,
  place: WalletPlace,
  { grantId, now, expiresAt: decide }: GrantEnd,
): Promise<{ before: GrantRow; after: GrantRow } | undefined> {
  const wallets = await openWallets(db, [place], now);
  const before = await findOwn(db, place, grantId);
  const expiresAt = before && decide(before);
  if (before && expiresAt) {
    await setExpiry(db, grantId, expiresAt);
    const wallet = walletOf({ wallets }, place);
    // mutant: voided-grant-keeps-its-balance
    for (const { id, remaining } of await emptyExpired(db, [place], now)) {
      moveCredits(wallet, { type: 'expiry', grantId: id }, { balance: -creditUnits(remaining) });
    }
  }
  await closeWallets(db, wallets.values(), now);
  const after = await findOwn(db, place, grantId);
  return before && after && { before, after };
}

async function findOwn(
  db: PoolClient,
  { environment, customerId }: WalletPlace,
  grantId: string,
): Promise<GrantRow | undefined> {
  const [grant] = await findGrants(db, [grantId]);
  return grant?.environment === environment && grant.customerId === customerId ? grant : undefined;
}
