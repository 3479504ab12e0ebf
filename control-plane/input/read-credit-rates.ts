import { exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import type { Meter } from '../../schemas/resources/meters.ts';
import type { MeterRow } from '../store/meters.ts';
import { readDecimal } from './read-decimal.ts';

type Rates = Pick<MeterRow, 'creditRate' | 'creditRates'>;

/**
 * The rates of a checked body, from its own text: a double would round 123456789.000000000001. Members that
 * the body leaves out are left out; null is null. Throws Rejected `value_invalid`.
 */
export function readCreditRates(bodyText: string): Partial<Rates> {
  const { creditRate, creditRates } = parseExact(bodyText) as {
    creditRate?: unknown;
    creditRates?: { property: string; rates: Record<string, unknown> } | null;
  };
  return {
    ...(creditRate === undefined ? {} : { creditRate: rateOf(creditRate, 'creditRate') }),
    ...(creditRates === undefined ? {} : { creditRates: creditRates && ratesByValue(creditRates) }),
  };
}

/** As they are shown. */
export function shownCreditRates({ creditRate, creditRates }: Rates): Pick<Meter, keyof Rates> {
  return {
    ...(creditRate === null ? {} : { creditRate: exactNumber(creditRate) }),
    ...(creditRates === null ? {} : { creditRates: shownRates(creditRates) }),
  };
}

function rateOf(rate: unknown, param: string): string | null {
  return rate === null ? null : readDecimal(rate, param);
}

function ratesByValue({ property, rates }: { property: string; rates: Record<string, unknown> }) {
  const read = Object.entries(rates).map(([value, rate]) => {
    return [value, readDecimal(rate, `creditRates.rates.${value}`)];
  });
  return { property, rates: Object.fromEntries(read) as Record<string, string> };
}

function shownRates({ property, rates }: NonNullable<MeterRow['creditRates']>) {
  const shownRate = ([value, rate]: [string, string]) => [value, exactNumber(rate)];
  return { property, rates: Object.fromEntries(Object.entries(rates).map(shownRate)) };
}
