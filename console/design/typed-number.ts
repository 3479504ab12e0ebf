import { DECIMAL } from '../api/exact-body.ts';

/** As the console itself writes numbers: groups of three by commas, spaces or apostrophes; a decimal point. */
const GROUPED = /^\d{1,3}([,\s'’_])\d{3}(\1\d{3})*(\.\d+)?$/;

/** The digits of a number of at least 0 that a reader typed; undefined when it is none. */
export function numberOf(typed: string): string | undefined {
  const text = typed.trim();
  const digits = GROUPED.test(text) ? text.replace(/[,\s'’_]/g, '') : text;
  return DECIMAL.test(digits) ? digits : undefined;
}

export const NO_NUMBER = 'Enter a number of at least 0, such as 250, 60,000 or 0.5.';
