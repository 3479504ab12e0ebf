import type { Rejection } from '../../../schemas/error-codes.ts';
import { markedNumber } from './parse.ts';

/** The number itself where a double holds it exactly, else its own text; undefined when it is no number. */
export function numberText(value: unknown): number | string | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? markedNumber(value) : undefined;
}

/**
 * The canonical text of a number out of `numberText`, where need be by `read`
 * (schemas/primitives/decimal.ts), which decides what lies beyond the limits.
 */
export function decimalOf(
  value: number | string,
  read: (text: string) => string | undefined,
): string | undefined {
  if (typeof value === 'string') return read(value);
  if (Number.isInteger(value) && value > -1e15 && value < 1e15) return String(value === 0 ? 0 : value);
  const text = String(value);
  // Without an exponent the shortest text of a double is canonical already; that is nearly every value.
  const point = text.indexOf('.');
  const plain = point > 0 && point <= 15 && text.length - point <= 13 && !text.includes('e');
  return plain ? text : read(text);
}

/** True for text that must not be stored: half a surrogate pair or U+0000. */
export function isUnstorable(text: string): boolean {
  return text.includes('\u0000') || /* mutant: surrogate-check-removed */ !text.isWellFormed();
}

export function invalid(message: string, param?: string): Rejection {
  return { code: 'invalid_request', message, ...(param === undefined ? {} : { param }) };
}
