import { creditUnits } from '../rules/credit-units.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';

/** What usage of a meter costs a customer more than before, or less: then the amount is negative. */
export interface CreditBurn extends WalletPlace {
  meterKey: string;
  /** Of the billing period to which the usage belongs. */
  periodStart: Date;
  /** Decimal text of at most 24 fraction digits. */
  amount: string;
}

/** The burns of one customer, each meter and period once. Amounts in units of 10^-24. */
export interface CustomerBurns extends WalletPlace {
  burns: UnitsBurn[];
}

export interface UnitsBurn {
  meterKey: string;
  periodStart: Date;
  units: bigint;
}

export function burnsOfCustomers(burns: readonly CreditBurn[]): CustomerBurns[] {
  const customers = new Map<string, CustomerBurns & { places: Map<string, UnitsBurn> }>();
  for (const { environment, customerId, meterKey, periodStart, amount } of burns) {
    const units = creditUnits(amount);
    if (units === 0n) continue;
    const own = customers.get(customerId) ?? { environment, customerId, burns: [], places: new Map() };
    customers.set(customerId, own);
    const place = `${periodStart.getTime()} ${meterKey}`;
    const known = own.places.get(place);
    if (known) known.units += units;
    else own.places.set(place, { meterKey, periodStart, units });
  }
  return [...customers.values()].map(({ places, ...one }) => ({ ...one, burns: [...places.values()] }));
}

export function unitsOf({ burns }: CustomerBurns): bigint {
  return burns.reduce((sum, { units }) => sum + units, 0n);
}
