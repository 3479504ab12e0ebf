import { larger, smaller } from '../../domain/rules/credit-units.ts';
import type { OpenHolds } from '../../domain/rules/decide-hold.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { ReservedAmount } from '../store/reservation-accounts.ts';
import type { ReservationRow } from '../store/reservations.ts';

/** What is held beyond the limit: of the verdict on a hold. */
export interface Taken {
  beyond: bigint;
  rate: string;
}

interface MeterAmount {
  held: bigint;
  beyond: bigint;
  rate: string;
  uncounted: bigint;
  hasCommits: boolean;
  isChanged: boolean;
}

type Amounted = Pick<ReservationRow, 'status' | 'reserved'>;

/** What is held of each meter of a customer, by its reservations. Units of 10^-12. */
export function openAmounts(stored: readonly ReservedAmount[]) {
  const meters = new Map<string, MeterAmount>();
  for (const { meterKey, held, beyond, rate, uncounted, hasCommits } of stored) {
    const [heldUnits, beyondUnits] = [decimalUnits(held), decimalUnits(beyond)];
    const units = { held: heldUnits, beyond: beyondUnits, uncounted: decimalUnits(uncounted) };
    meters.set(meterKey, { ...units, rate, hasCommits, isChanged: false });
  }

  function meterOf(meterKey: string): MeterAmount {
    const none = { held: 0n, beyond: 0n, rate: '0', uncounted: 0n, hasCommits: false, isChanged: false };
    const found = meters.get(meterKey) ?? none;
    meters.set(meterKey, found);
    return found;
  }

  return {
    openHolds(meterKey: string, counted: ReadonlyMap<string, bigint>): OpenHolds {
      const heldOf = (key: string, { held }: MeterAmount) => held - (counted.get(key) ?? 0n);
      let creditsElsewhere = 0n;
      for (const [key, meter] of meters) {
        const { beyond, rate } = meter;
        const left = heldOf(key, meter);
        // mutant: credits-of-other-meters
        if (key !== meterKey) creditsElsewhere += smaller(beyond, left) * decimalUnits(rate);
      }
      return { held: heldOf(meterKey, meterOf(meterKey)), creditsElsewhere };
    },
    /** Of all meters: credits are shared by them. */
    uncountedBut(counted: ReadonlyMap<string, bigint>): bigint {
      let sum = 0n;
      for (const [key, { uncounted }] of meters) sum += uncounted - (counted.get(key) ?? 0n);
      return sum;
    },
    hasCommits: () => [...meters.values()].some(({ hasCommits }) => hasCommits),
    /**
     * From one state of a reservation to the next. Where less is held, what goes beyond the limit ends first;
     * where more is held without a verdict, all of it counts as beyond.
     */
    change(meterKey: string, from: Amounted | undefined, to: Amounted, taken: Taken | undefined): void {
      const meter = meterOf(meterKey);
      const more = decimalUnits(to.reserved) - decimalUnits(from?.reserved ?? '0');
      meter.held += more;
      meter.uncounted += uncountedOf(to) - uncountedOf(from);
      meter.hasCommits ||= isCommit(to);
      meter.isChanged = true;
      if (more > 0n && taken) Object.assign(meter, taken);
      else meter.beyond = larger(0n, meter.beyond + more);
    },
    changed: () =>
      [...meters].flatMap(([meterKey, { held, beyond, rate, uncounted, hasCommits, isChanged }]) => {
        const texts = { held: unitsText(held), beyond: unitsText(beyond), uncounted: unitsText(uncounted) };
        return isChanged ? [{ meterKey, ...texts, rate, hasCommits }] : [];
      }),
  };
}

function isCommit({ status }: Amounted): boolean {
  return status === 'committing' || status === 'committed';
}

function uncountedOf(row: Amounted | undefined): bigint {
  return row && isCommit(row) ? decimalUnits(row.reserved) : 0n;
}
