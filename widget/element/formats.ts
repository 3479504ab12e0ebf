/** Numbers, money and times as readers of one language write them. */
export interface Formats {
  /** Whole amounts without decimals, small ones with all of theirs. */
  money(amount: number, currency: string): string;
  number(value: number): string;
  percent(share: number): string;
  /** `month`, `3 months`. */
  period(interval: string, count: number): string;
  day(timestamp: string): string;
}

/** As many fraction digits as the API keeps. */
const FRACTION_DIGITS_MAX = 12;

/** An unknown locale is that of the browser. */
export function createFormats(wanted: string | undefined): Formats {
  const locale = knownLocale(wanted);
  const numberOf = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options);
  const plain = numberOf({ maximumFractionDigits: FRACTION_DIGITS_MAX });
  const percent = numberOf({ style: 'percent', maximumFractionDigits: 4 });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  return {
    money: (amount, currency) =>
      numberOf({
        style: 'currency',
        currency,
        maximumFractionDigits: FRACTION_DIGITS_MAX,
        trailingZeroDisplay: 'stripIfInteger',
      } as Intl.NumberFormatOptions).format(amount),
    number: (value) => plain.format(value),
    percent: (share) => percent.format(share),
    period(interval, count) {
      const parts = numberOf({ style: 'unit', unit: interval, unitDisplay: 'long' }).formatToParts(count);
      if (count > 1) return parts.map(({ value }) => value).join('');
      return parts.find(({ type }) => type === 'unit')?.value ?? interval;
    },
    day: (timestamp) => day.format(new Date(timestamp)),
  };
}

function knownLocale(wanted: string | undefined): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(wanted ?? [])[0];
  } catch {
    return undefined;
  }
}
