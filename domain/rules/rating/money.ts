import { Defect } from '../../../schemas/failures.ts';
import { minorUnitDigits } from '../../../schemas/primitives/currency.ts';
import { creditText } from '../credit-units.ts';

/** The canonical decimal text of money in units of 10^-24. */
export function moneyText(units: bigint): string {
  return creditText(units);
}

/** Digits behind the point of exact money. */
const EXACT_DIGITS = 24;

/** Money in units of 10^-24, rounded half-even to the currency's minor unit; in units of 10^-24 too. */
export function roundToMinorUnit(amount: bigint, currency: string): bigint {
  const unit = 10n ** BigInt(EXACT_DIGITS - digitsOf(currency));
  const floor = (amount - modulo(amount, unit)) / unit;
  const rest = 2n * modulo(amount, unit);
  const isUp = rest > unit || (rest === unit && modulo(floor, 2n) === 1n);
  return (isUp ? floor + 1n : floor) * unit;
}

function digitsOf(currency: string): number {
  const digits = minorUnitDigits(currency);
  if (digits === undefined) throw new Defect(`no currency: ${currency}`);
  return digits;
}

/** Never negative. */
function modulo(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}
