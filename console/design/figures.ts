/** Numbers and times as people read them. Decimals are text, and no digit of them is lost. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const EXACT = new Intl.NumberFormat('en', { maximumFractionDigits: 12 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });

export function count(value: number): string {
  return WHOLE.format(value);
}

/** A decimal of a response, with its digits grouped. */
export function amount(text: string | number): string {
  return EXACT.format(text as unknown as number);
}

/** For axes and figures with little room. */
export function short(value: number): string {
  return Math.abs(value) < 10_000 ? EXACT.format(Number(value.toPrecision(4))) : SHORT.format(value);
}

export function percent(share: number): string {
  return share > 0 && share < 0.005 ? '<1%' : PERCENT.format(share);
}

/** Money of that currency (ISO 4217), with as many fraction digits as it was given. */
export function money(text: string | number, currency: string): string {
  const digits = String(text).split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const usual = format.resolvedOptions().maximumFractionDigits ?? 2;
  if (digits <= usual) return format.format(text as unknown as number);
  const fine = { style: 'currency', currency, minimumFractionDigits: digits } as const;
  return new Intl.NumberFormat('en', fine).format(text as unknown as number);
}

/** `1 event`, `2 events`. */
export function counted(value: number, one: string, more = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : more}`;
}

/** A stored word, such as `past_due`, for people. */
export function words(stored: string): string {
  const spaced = stored.replaceAll('_', ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
