import { larger } from '../../domain/rules/credit-units.ts';
import type { OpenHolds } from '../../domain/rules/decide-hold.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { ReservedAmount } from '../store/reservation-accounts.ts';
import type { ReservationChanges, ReservationRow } from '../store/reservations.ts';

/** What a customer holds, while its account is locked. Changes are in memory until they are written. */
export interface Account {
  /** What open holds take, for a decision on this meter. */
  openHolds(meterKey: string): OpenHolds;
  hold(row: ReservationRow, taken: Taken): void;
  /** Of those that were read. Undefined: there is none. */
  find(id: string): ReservationRow | undefined;
  /** Ends a held one. */
  end(row: ReservationRow, status: 'released' | 'expired', endedAt: Date): ReservationRow;
  /** Changes a held one; `taken` where more was granted. */
  amend(row: ReservationRow, change: Amendment, taken?: Taken): ReservationRow;
}

/** What is held beyond the limit: of the verdict on a hold. */
export interface Taken {
  beyond: bigint;
  rate: string;
}

export type Amendment = Partial<Pick<ReservationRow, 'amount' | 'renewedAt' | 'expiresAt'>>;

export function openAccount(
  customerId: string,
  stored: readonly ReservedAmount[],
  rows: readonly ReservationRow[],
) {
  const amounts = openAmounts(stored);
  const known = new Map(rows.map((row) => [row.id, row]));
  const inserted: ReservationRow[] = [];
  const updated = new Map<string, ReservationRow>();

  function update(row: ReservationRow): ReservationRow {
    known.set(row.id, row);
    updated.set(row.id, row);
    return row;
  }

  const account: Account = {
    openHolds: amounts.openHolds,
    hold(row, taken) {
      amounts.put(row.meterKey, decimalUnits(row.amount), taken);
      inserted.push(row);
    },
    find: (id) => known.get(id),
    end(row, status, endedAt) {
      amounts.take(row.meterKey, decimalUnits(row.amount));
      return update({ ...row, status, endedAt });
    },
    amend(row, change, taken) {
      const more = decimalUnits(change.amount ?? row.amount) - decimalUnits(row.amount);
      if (more > 0n && taken) amounts.put(row.meterKey, more, taken);
      else if (more < 0n) amounts.take(row.meterKey, -more);
      return update({ ...row, ...change });
    },
  };
  return {
    account,
    changes: (): ReservationChanges => ({
      inserted,
      updated: [...updated.values()],
      amounts: amounts.changed().map((one) => ({ customerId, ...one })),
    }),
  };
}

interface MeterAmount {
  held: bigint;
  beyond: bigint;
  rate: string;
  isChanged: boolean;
}

/** What is held of each meter. */
function openAmounts(stored: readonly ReservedAmount[]) {
  const meters = new Map<string, MeterAmount>();
  for (const { meterKey, held, beyond, rate } of stored) {
    const units = { held: decimalUnits(held), beyond: decimalUnits(beyond) };
    meters.set(meterKey, { ...units, rate, isChanged: false });
  }

  function meterOf(meterKey: string): MeterAmount {
    const found = meters.get(meterKey) ?? { held: 0n, beyond: 0n, rate: '0', isChanged: false };
    meters.set(meterKey, found);
    return found;
  }

  return {
    openHolds(meterKey: string): OpenHolds {
      let creditsElsewhere = 0n;
      for (const [key, { beyond, rate }] of meters) {
        // mutant: credits-of-other-meters
        if (key !== meterKey) creditsElsewhere += beyond * decimalUnits(rate);
      }
      return { held: meterOf(meterKey).held, creditsElsewhere };
    },
    /** Less is held: first what goes beyond the limit. */
    take(meterKey: string, units: bigint): void {
      const meter = meterOf(meterKey);
      const beyond = larger(0n, meter.beyond - units);
      Object.assign(meter, { held: meter.held - units, beyond, isChanged: true });
    },
    put(meterKey: string, units: bigint, { beyond, rate }: Taken): void {
      const meter = meterOf(meterKey);
      Object.assign(meter, { held: meter.held + units, beyond, rate, isChanged: true });
    },
    changed: () =>
      [...meters].flatMap(([meterKey, { held, beyond, rate, isChanged }]) =>
        isChanged ? [{ meterKey, held: unitsText(held), beyond: unitsText(beyond), rate }] : [],
      ),
  };
}
