import type { Pool, PoolClient } from 'pg';
import { Defect } from '../../schemas/failures.ts';
import { exactJson, exactNumber } from '../../schemas/primitives/exact-json.ts';
import { emitEverywhere } from '../emit-events.ts';
import { creditText, creditUnits } from '../rules/credit-units.ts';
import { emptyExpired, type GrantRow } from '../store/credit-grants.ts';
import { insertEntries, type LedgerEntry, type LedgerReference } from '../store/credit-ledger.ts';
import { insertWallets, lockWallets, updateWallets, type WalletPlace } from '../store/credit-wallets.ts';
import { insertAuditEntries } from '../store/insert-audit-entry.ts';
import { notifyCredits } from '../store/notify-change.ts';
import { shownGrant } from './shown-grant.ts';

/** A locked wallet, and what has happened to it since. Amounts in units of 10^-24. */
export interface OpenWallet extends WalletPlace {
  balance: bigint;
  unpaid: bigint;
  /** The balance has come down to zero, be it filled again since or not. */
  isDepleted: boolean;
  entries: LedgerEntry[];
}

/**
 * The wallets of these customers by customer, locked, without what has expired by now. A transaction opens
 * wallets once, all that it needs: rivals then wait for each other in one order.
 */
export async function openWallets(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
  now: Date,
): Promise<Map<string, OpenWallet>> {
  await insertWallets(db, places);
  const opened = new Map<string, OpenWallet>();
  for (const { environment, customerId, balance, unpaid } of await lockWallets(db, places)) {
    const amounts = { balance: creditUnits(balance), unpaid: creditUnits(unpaid) };
    opened.set(customerId, { environment, customerId, ...amounts, isDepleted: false, entries: [] });
  }
  const expired = await emptyExpired(db, places, now);
  for (const { id, customerId, remaining } of expired) {
    const wallet = opened.get(customerId);
    if (wallet) moveCredits(wallet, { type: 'expiry', grantId: id }, { balance: -creditUnits(remaining) });
  }
  if (expired.length > 0)
    await insertAuditEntries(
      db,
      expired.map((grant) => expiryOf(grant, now)),
    );
  return opened;
}

/** Wallets that are open at a time. */
export interface OpenWallets {
  wallets: ReadonlyMap<string, OpenWallet>;
  now: Date;
}

export function walletOf(
  { wallets }: Pick<OpenWallets, 'wallets'>,
  { environment, customerId }: WalletPlace,
): OpenWallet {
  const wallet = wallets.get(customerId);
  if (!wallet) throw new Defect(`no wallet of ${customerId} in ${environment}`);
  return wallet;
}

/** Changes a wallet's amounts by what is given, with the entry of its ledger. */
export function moveCredits(
  wallet: OpenWallet,
  reference: LedgerReference,
  { balance = 0n, unpaid = 0n }: { balance?: bigint; unpaid?: bigint },
): void {
  const { environment, customerId } = wallet;
  const amounts = { amount: creditText(balance), unpaid: creditText(unpaid) };
  wallet.entries.push({ environment, customerId, ...amounts, ...reference });
  wallet.balance += balance;
  wallet.unpaid += unpaid;
  const isSpent = reference.type === 'burn' || reference.type === 'expiry';
  if (isSpent && balance < 0n && wallet.balance === 0n) wallet.isDepleted = true;
}

/** Writes the changes and sends their invalidations; as many statements for one wallet as for many. */
export async function closeWallets(
  db: Pool | PoolClient,
  wallets: Iterable<OpenWallet>,
  now: Date,
): Promise<void> {
  const moved = [...wallets].filter(({ entries }) => entries.length > 0);
  if (moved.length === 0) return;
  await updateWallets(
    db,
    moved.map(({ balance, unpaid, ...place }) => ({
      ...place,
      balance: creditText(balance),
      unpaid: creditText(unpaid),
    })),
  );
  await insertEntries(
    db,
    moved.flatMap(({ entries }) => entries),
    now,
  );
  const depleted = moved.filter(({ isDepleted }) => isDepleted);
  await emitEverywhere(db, now.getTime(), depleted.map(depletionOf));
  await notifyCredits(
    db,
    moved.map(({ customerId }) => customerId),
  );
}

const ZERO = exactNumber('0');

function depletionOf({ environment, customerId }: WalletPlace) {
  const data = { customerId, balance: ZERO };
  return { environment, type: 'credit.depleted' as const, objectId: customerId, data };
}

function expiryOf(grant: GrantRow, now: Date) {
  return {
    environment: grant.environment,
    actor: 'clock',
    action: 'credits.expire',
    objectId: grant.id,
    before: exactJson(shownGrant(grant)),
    after: exactJson(shownGrant({ ...grant, remaining: '0' })),
    requestId: null,
    createdAt: now,
  };
}
