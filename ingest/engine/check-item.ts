import type { Refusal } from '../../schemas/error-codes.ts';
import { canonicalDecimal } from '../../schemas/rules/decimal.ts';
import { timestampMs } from '../../schemas/rules/timestamp.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { decimalOf, invalid, isUnstorable, numberText } from './json-scalars.ts';
import { isObject, markedNumber } from './parse.ts';
import { type CanonicalProperties, canonicalProperties, NO_PROPERTIES } from './properties.ts';

/** An item whose form is right. What it names is not looked up yet. */
export interface CheckedItem {
  idempotencyKey: string;
  /** As sent: an id or the caller's own external id. */
  customer: string;
  /** As sent: a key or a meter id. */
  meter: string;
  /** Canonical decimal text. */
  value: string;
  /** NaN when the client sent none. */
  occurredAtMs: number;
  properties: CanonicalProperties;
}

/**
 * Checks one item's form. `idempotencyKey` is the header of a single event; a batch item carries its own. The
 * words are the same either way.
 */
export function checkItem(raw: unknown, idempotencyKey: unknown): CheckedItem | Refusal {
  if (!isObject(raw)) return invalid('Each event must be a JSON object.');
  const { customerId, meterId, value, occurredAt, properties } = raw;
  const keyFault = checkIdempotencyKey(idempotencyKey);
  if (keyFault) return keyFault;
  const nameFault = checkName('customerId', customerId) ?? checkName('meterId', meterId);
  if (nameFault) return nameFault;
  const number = numberText(value);
  if (number === undefined) return invalid('`value` must be a number.', 'value');
  const occurredAtMs = occurredAt === undefined ? Number.NaN : timestampOf(occurredAt);
  if (occurredAtMs === undefined) {
    return invalid(
      '`occurredAt` must be an RFC 3339 timestamp such as 2026-01-01T00:00:00.000Z.',
      'occurredAt',
    );
  }
  const canonical = properties === undefined ? NO_PROPERTIES : canonicalProperties(properties);
  if ('code' in canonical) return canonical;
  const decimal = typeof number === 'number' ? decimalOf(number) : canonicalDecimal(number);
  if (decimal === undefined) {
    return { code: 'value_invalid', message: VALUE_LIMITS, param: 'value' };
  }
  return {
    idempotencyKey: idempotencyKey as string,
    customer: customerId as string,
    meter: meterId as string,
    value: decimal,
    occurredAtMs,
    properties: canonical,
  };
}

const VALUE_LIMITS = '`value` has at most 15 integer and 12 fraction digits; round it before sending.';
const KEY_CHARS_MAX = USAGE_LIMITS.idempotencyKeyCharsMax;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused here
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

function checkIdempotencyKey(key: unknown): Refusal | undefined {
  if (key === undefined || key === null || key === '') {
    return {
      code: 'idempotency_key_missing',
      message:
        'Each event needs an idempotency key: the Idempotency-Key header, or idempotencyKey in a batch.',
      param: 'idempotencyKey',
    };
  }
  const sound =
    typeof key === 'string' &&
    markedNumber(key) === undefined &&
    key.length <= KEY_CHARS_MAX &&
    !CONTROL_CHARACTERS.test(key) &&
    key.isWellFormed();
  if (sound) return undefined;
  return {
    code: 'idempotency_key_invalid',
    message: `An idempotency key is text of 1–${KEY_CHARS_MAX} characters, none of them a control character.`,
    param: 'idempotencyKey',
  };
}

function checkName(param: 'customerId' | 'meterId', name: unknown): Refusal | undefined {
  if (typeof name !== 'string' || name === '' || markedNumber(name) !== undefined) {
    return invalid(`\`${param}\` must be a non-empty string.`, param);
  }
  if (name.length > USAGE_LIMITS.idCharsMax) {
    return invalid(`\`${param}\` has at most ${USAGE_LIMITS.idCharsMax} characters.`, param);
  }
  return isUnstorable(name)
    ? invalid(`\`${param}\` holds U+0000 or half a surrogate pair.`, param)
    : undefined;
}

function timestampOf(occurredAt: unknown): number | undefined {
  return typeof occurredAt === 'string' ? timestampMs(occurredAt) : undefined;
}
