import type { PoolClient } from 'pg';
import { Defect, Rejected, Transient } from '../../schemas/failures.ts';
import type { Response } from '../http/idempotent.ts';
import { lockAccounts, readReservedAmounts } from '../store/reservation-accounts.ts';
import { readConcerned, writeReservations } from '../store/reservations.ts';
import { openAccount } from './account.ts';
import type { AccountRequest, Decided } from './account-request.ts';
import { type KeptResponses, takeKeys } from './kept-responses.ts';

/** What came of one request; `again`: another transaction has its key, so that it was not decided. */
export type Outcome =
  | { response: Response; outcome?: Decided['outcome'] }
  | { error: Rejected }
  | { again: true };

export interface Together {
  environment: string;
  /** Whose accounts are locked: those of the requests, and others whose holds have expired. */
  customerIds: string[];
  requests: readonly AccountRequest[];
  nowMs: () => number;
  sealingKey: Buffer;
}

export interface DecidedTogether {
  /** In the order of the requests. They hold once the transaction is committed. */
  outcomes: Outcome[];
  expired: number;
}

/** How long to wait for another process that decides. It takes milliseconds, unless it hangs. */
export const LOCK_WAIT_MS = 2_000;
/** Expired holds that one transaction ends: the others count as held until the next one. */
const DUE_MAX = 1_000;

/**
 * Decides requests of one environment in the order of their arrival, under the locks of their customers'
 * accounts. What has expired is ended first, so that it takes nothing from them.
 */
export async function decideTogether(
  client: PoolClient,
  { environment, requests, nowMs, sealingKey, ...given }: Together,
): Promise<DecidedTogether> {
  const customerIds = [...new Set(given.customerIds)];
  const kept = await takeKeys(client, requests, sealingKey);
  // mutant: account-not-locked
  await requireLocks(client, environment, customerIds);
  const now = new Date(nowMs());
  const ids = requests.flatMap(({ reservationId }) => (reservationId === undefined ? [] : [reservationId]));
  const amounts = await readReservedAmounts(client, environment, { customerIds, now });
  const isConcerned = ids.length > 0 || amounts.some(({ hasDue }) => hasDue);
  const concerned = { customerIds, ids, now, dueMax: DUE_MAX };
  const rows = isConcerned ? await readConcerned(client, environment, concerned) : [];
  const accounts = new Map(
    customerIds.map((customerId) => {
      const isOwn = (one: { customerId: string }) => one.customerId === customerId;
      return [customerId, openAccount(customerId, amounts.filter(isOwn), rows.filter(isOwn))] as const;
    }),
  );
  const due = rows.filter(({ status, expiresAt }) => status === 'held' && expiresAt <= now);
  // mutant: expired-hold-not-ended-first
  for (const row of due) accounts.get(row.customerId)?.account.end(row, 'expired', row.expiresAt);
  const outcomes = requests.map((request) => {
    const opened = accounts.get(request.customerId);
    if (!opened) throw new Defect('the account of a request is not open');
    return decideOne(request, kept, (one) => one.decide(opened.account, now));
  });
  const changes = [...accounts.values()].map((one) => one.changes());
  await writeReservations(client, environment, {
    inserted: changes.flatMap((one) => one.inserted),
    updated: changes.flatMap((one) => one.updated),
    amounts: changes.flatMap((one) => one.amounts),
  });
  // mutant: hold-without-its-kept-response
  await kept.write();
  return { outcomes, expired: due.length };
}

async function requireLocks(client: PoolClient, environment: string, customerIds: string[]): Promise<void> {
  const locked = await lockAccounts(client, environment, customerIds);
  if (locked === customerIds.length) return;
  throw new Transient('account_missing', 'An account of reservations is missing.');
}

function decideOne(
  request: AccountRequest,
  kept: KeptResponses,
  decide: (request: AccountRequest) => Decided,
): Outcome {
  if (kept.isInUse(request)) return { again: true };
  try {
    const repeated = kept.find(request);
    if (repeated) return { response: repeated };
    const { isKept, outcome, ...decided } = decide(request);
    const response = { ...decided, replayed: false };
    // mutant: denied-key-kept
    if (isKept) kept.keep(request, response);
    return { response, outcome };
  } catch (error) {
    if (error instanceof Rejected) return { error };
    throw error;
  }
}
