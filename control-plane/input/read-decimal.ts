import { Rejected } from '../../schemas/failures.ts';
import { canonicalDecimal } from '../../schemas/primitives/decimal.ts';
import { numberText } from '../../schemas/primitives/exact-json.ts';

/**
 * The canonical text of a number from `parseExact`. Throws Rejected `value_invalid`, which names the field,
 * beyond 15 integer or 12 fraction digits.
 */
export function readDecimal(number: unknown, param: string): string {
  const text = canonicalDecimal(numberText(number) ?? '');
  if (text !== undefined) return text;
  const message = `\`${param}\` has at most 15 integer and 12 fraction digits.`;
  throw new Rejected('value_invalid', message, { param });
}
