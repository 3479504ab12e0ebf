import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { creditText, creditUnits } from './credit-units.ts';

/** A meter's credit rates, as it has them. Decimal texts. */
export interface MeterRates {
  creditRate: string | null;
  creditRates: { property: string; rates: Record<string, string> } | null;
}

/** What can pay for usage beyond a limit. Decimal texts of at most 24 fraction digits. */
export interface CreditReading {
  /** Of the wallet, without what has expired. */
  balance: string;
  /** What was burnt beyond it; 0 unless it is empty. */
  unpaid: string;
  /** Credits for one more unit. */
  rate: string;
}

/**
 * Credits for one more unit of which no property is known yet: the meter's own rate; where it only has rates
 * by the values of a property, the dearest of them, so that nothing is granted that cannot be paid. Undefined
 * where usage costs nothing.
 */
export function rateOfOneMore({ creditRate, creditRates }: MeterRates): string | undefined {
  const rate = creditRate ?? Object.values(creditRates?.rates ?? {}).reduce(dearer, '0');
  return decimalUnits(rate) > 0n ? rate : undefined;
}

/** What more usage costs, what is there for it, and whether that reaches. Decimal texts. */
export interface CreditCover {
  cost: string;
  /** The balance less the unpaid rest; below 0 where there is one. */
  available: string;
  reaches: boolean;
}

/** Of so many units of 10^-12. Without any credit nothing is paid, were it for nothing. */
export function coverOf({ balance, unpaid, rate }: CreditReading, units: bigint): CreditCover {
  const cost = units * decimalUnits(rate);
  const available = creditUnits(balance) - creditUnits(unpaid);
  return {
    cost: creditText(cost),
    available: creditText(available),
    reaches: available > 0n && cost <= available,
  };
}

function dearer(a: string, b: string): string {
  return decimalUnits(a) >= decimalUnits(b) ? a : b;
}
