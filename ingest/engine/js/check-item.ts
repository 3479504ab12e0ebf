import type { Rejection } from '../../../schemas/error-codes.ts';
import { canonicalDecimal, roundedDecimal } from '../../../schemas/primitives/decimal.ts';
import { didYouMean, misspelling, notKnown } from '../../../schemas/primitives/similar-name.ts';
import { timestampMs } from '../../../schemas/primitives/timestamp.ts';
import { TIMESTAMP_FORM, timestampFault } from '../../../schemas/primitives/timestamp-fault.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { knownMembers } from './item-members.ts';
import { decimalOf, invalid, isUnstorable, numberText } from './json-scalars.ts';
import { isObject, markedNumber } from './parse.ts';
import { type CanonicalProperties, canonicalProperties, NO_PROPERTIES } from './properties.ts';

/** An item of valid form. Its names are not resolved yet. */
export interface CheckedItem {
  idempotencyKey: string;
  /** As sent: an id or the caller's own external id. */
  customer: string;
  /** As sent: a key or a meter id. */
  meter: string;
  /** Canonical decimal text, rounded to 12 fraction digits. */
  value: string;
  /** NaN when the client sent none. */
  occurredAtMs: number;
  properties: CanonicalProperties;
}

/** What is known of an item apart from its members. */
export interface ItemContext {
  /** Its own, or the header of a single event. */
  idempotencyKey: unknown;
  /** Of its members. */
  unknown: readonly string[];
  /** `Prefer: handling=strict`. */
  isStrict: boolean;
}

/** Checks one item's form; the words are the same for a single event and an item of a batch. */
export function checkItem(raw: unknown, context: ItemContext): CheckedItem | Rejection {
  if (!isObject(raw)) return invalid('Each event must be a JSON object.');
  const { customerId, meterId, value, occurredAt, properties } = raw;
  const { idempotencyKey, isStrict, unknown } = context;
  const keyFault = checkIdempotencyKey(idempotencyKey, unknown);
  if (keyFault) return keyFault;
  if (isStrict && unknown.length > 0) return unknownMember(unknown[0] ?? '', knownMembers());
  const nameFault = checkName('customerId', customerId, unknown) ?? checkName('meterId', meterId, unknown);
  if (nameFault) return nameFault;
  const number = numberText(value);
  if (number === undefined)
    return invalid(`\`value\` must be a number.${hintFor('value', value, unknown)}`, 'value');
  const occurredAtMs = timestampOf(occurredAt);
  if (occurredAtMs === undefined) return invalid(timeFault(occurredAt), 'occurredAt');
  const canonical =
    properties === undefined || properties === null ? NO_PROPERTIES : canonicalProperties(properties);
  if ('code' in canonical) return canonical;
  const decimal = decimalOf(number, isStrict ? canonicalDecimal : roundedDecimal);
  if (decimal === undefined) {
    return { code: 'value_invalid', message: isStrict ? STRICT_LIMITS : VALUE_LIMITS, param: 'value' };
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

const VALUE_LIMITS = '`value` has at most 15 integer digits.';
const STRICT_LIMITS =
  '`value` has at most 15 integer and 12 fraction digits, and with handling=strict it is not rounded.';
const KEY_MISSING = 'Each event needs an idempotency key: `idempotencyKey`, or the header of a single event.';
const KEY_CHARS_MAX = USAGE_LIMITS.idempotencyKeyCharsMax;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern rejects them
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

function checkIdempotencyKey(key: unknown, unknown: readonly string[]): Rejection | undefined {
  if (key === undefined || key === null || key === '') {
    return {
      code: 'idempotency_key_missing',
      message: KEY_MISSING + hintFor('idempotencyKey', undefined, unknown),
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

function checkName(
  param: 'customerId' | 'meterId',
  name: unknown,
  unknown: readonly string[],
): Rejection | undefined {
  if (typeof name !== 'string' || name === '' || markedNumber(name) !== undefined) {
    return invalid(`\`${param}\` must be a non-empty string.${hintFor(param, name, unknown)}`, param);
  }
  if (name.length > USAGE_LIMITS.idCharsMax) {
    return invalid(`\`${param}\` has at most ${USAGE_LIMITS.idCharsMax} characters.`, param);
  }
  return isUnstorable(name)
    ? invalid(`\`${param}\` holds U+0000 or half a surrogate pair.`, param)
    : undefined;
}

/** Where a required member is missing: what was probably sent in its place. */
function hintFor(param: string, value: unknown, unknown: readonly string[]): string {
  if (unknown.length === 0 || (value !== undefined && value !== null)) return '';
  const sent = misspelling(param, unknown);
  return sent === undefined ? '' : ` ${notKnown(shownName(sent))} Did you mean \`${param}\`?`;
}

export function unknownMember(name: string, known: Iterable<string>): Rejection {
  const shown = shownName(name);
  return invalid(notKnown(shown) + didYouMean(name, known), shown);
}

const NAME_CHARS_SHOWN = 64;

function shownName(name: string): string {
  return name.slice(0, NAME_CHARS_SHOWN).toWellFormed();
}

/** NaN when none was sent. */
function timestampOf(occurredAt: unknown): number | undefined {
  if (occurredAt === undefined || occurredAt === null) return Number.NaN;
  return typeof occurredAt === 'string' ? timestampMs(occurredAt) : undefined;
}

function timeFault(occurredAt: unknown): string {
  const isText = typeof occurredAt === 'string' && markedNumber(occurredAt) === undefined;
  if (isText) return `\`occurredAt\` ${timestampFault(occurredAt)}.`;
  return `\`occurredAt\` must be a text; the right form is ${TIMESTAMP_FORM}.`;
}
