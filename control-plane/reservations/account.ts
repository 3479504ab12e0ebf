import { larger } from '../../domain/rules/credit-units.ts';
import type { OpenHolds } from '../../domain/rules/decide-hold.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { UncountedCommit } from '../store/committed-amounts.ts';
import type { ReservedAmount } from '../store/reservation-accounts.ts';
import type { ReservationChanges, ReservationRow } from '../store/reservations.ts';
import { openAmounts, type Taken } from './account-amounts.ts';

/** What a customer holds, while its account is locked. Changes are in memory until they are written. */
export interface Account {
  /**
   * What its reservations take, for a decision on this meter. Commits take what they used until the counter
   * has it for sure: but for those up to `countedTo`, of which the caller knows that it has them.
   */
  openHolds(meterKey: string, countedTo: number | undefined): OpenHolds;
  /** Commits, other than those, may be in the counter as well. */
  mayCountTwice(countedTo: number | undefined): boolean;
  /** There were some ever: a counter from long ago may lack one that takes nothing any more. */
  hasCommits(): boolean;
  /** With `taken` of the verdict on it; a new one. */
  hold(row: ReservationRow, taken: Taken): void;
  /** Of those that were read. Undefined: there is none. */
  find(id: string): ReservationRow | undefined;
  /** It takes nothing from now on. */
  end(row: ReservationRow, status: 'released' | 'expired', endedAt: Date): ReservationRow;
  /** Changes one; `taken` where more was granted, or none was asked for. */
  amend(row: ReservationRow, change: Partial<ReservationRow>, taken?: Taken): ReservationRow;
}

export interface AccountState {
  amounts: readonly ReservedAmount[];
  rows: readonly ReservationRow[];
  /** Read where a request knows up to where the counter has them. */
  uncounted: readonly UncountedCommit[];
}

export function openAccount(customerId: string, state: AccountState) {
  const amounts = openAmounts(state.amounts);
  const known = new Map(state.rows.map((row) => [row.id, row]));
  const inserted = new Map<string, ReservationRow>();
  const updated = new Map<string, ReservationRow>();

  function put(row: ReservationRow): ReservationRow {
    known.set(row.id, row);
    // One that was made in this transaction is written once, as it is in the end.
    (inserted.has(row.id) ? inserted : updated).set(row.id, row);
    return row;
  }

  /** Units by meter, of commits that the counter has. */
  function countedOf(countedTo: number | undefined): Map<string, bigint> {
    const counted = new Map<string, bigint>();
    if (countedTo === undefined) return counted;
    for (const { meterKey, number, reserved } of state.uncounted) {
      if (number > countedTo) continue;
      counted.set(meterKey, (counted.get(meterKey) ?? 0n) + decimalUnits(reserved));
    }
    return counted;
  }

  const account: Account = {
    openHolds: (meterKey, countedTo) => amounts.openHolds(meterKey, countedOf(countedTo)),
    mayCountTwice: (countedTo) => amounts.uncountedBut(countedOf(countedTo)) > 0n,
    hasCommits: amounts.hasCommits,
    hold(row, taken) {
      amounts.change(row.meterKey, undefined, row, taken);
      known.set(row.id, row);
      inserted.set(row.id, row);
    },
    find: (id) => known.get(id),
    end(row, status, endedAt) {
      return account.amend(row, { status, endedAt, reserved: '0' });
    },
    amend(row, change, taken) {
      const changed = { ...row, ...change };
      amounts.change(row.meterKey, row, changed, taken);
      return put(changed);
    },
  };
  return {
    account,
    changes: (): ReservationChanges => ({
      inserted: [...inserted.values()],
      updated: [...updated.values()],
      amounts: amounts.changed().map((one) => ({ customerId, ...one })),
    }),
  };
}

/** The larger of what is held and what is used: until the event is written, either may become true. */
export function reservedWhileCommitting(amount: string, used: string): string {
  return unitsText(larger(decimalUnits(amount), decimalUnits(used)));
}
