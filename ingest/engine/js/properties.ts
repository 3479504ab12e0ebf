import type { Rejection } from '../../../schemas/error-codes.ts';
import { wholeDecimal } from '../../../schemas/primitives/decimal.ts';
import { BOOLEAN_TAG, NUMBER_TAG, propertyJson } from '../../../schemas/stored/event-row.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { decimalOf, invalid, isUnstorable, numberText } from './json-scalars.ts';
import { isObject } from './parse.ts';
import { quote } from './quote.ts';

/** Properties in the one order and spelling that fingerprints, lines and responses share. */
export interface CanonicalProperties {
  /** Sorted by key. */
  keys: string[];
  /** As stored: text, numbers and booleans with their tag (schemas/stored/event-row.ts). */
  values: string[];
  /** The JSON object of both, as it is in the line. */
  json: string;
}

export const NO_PROPERTIES: CanonicalProperties = { keys: [], values: [], json: '{}' };

/** A property that is null is absent. */
export function canonicalProperties(raw: unknown): CanonicalProperties | Rejection {
  if (!isObject(raw)) return invalid('`properties` must be a JSON object.', 'properties');
  const keys = Object.keys(raw).filter((key) => raw[key] !== null);
  if (keys.length === 0) return NO_PROPERTIES;
  if (keys.length > USAGE_LIMITS.propertiesMax) {
    return invalid(`An event has at most ${USAGE_LIMITS.propertiesMax} properties.`, 'properties');
  }
  sortInPlace(keys);
  const values: string[] = [];
  let json = '';
  for (const key of keys) {
    const member = memberName(key);
    const value = storedValue(raw[key]);
    if (value === undefined || member === undefined) return propertyFault(key);
    json += `${json === '' ? '{' : ','}${member}${storedJson(value)}`;
    values.push(value);
  }
  return { keys, values, json: `${json}}` };
}

/** The properties as a client sees them: numbers and booleans without quotes again. */
export function respondedProperties(properties: CanonicalProperties): string {
  const members = properties.keys.map((key, index) => {
    return `${quote(key)}:${propertyJson(properties.values[index] ?? '')}`;
  });
  return `{${members.join(',')}}`;
}

/** By insertion: clients mostly send few keys, and in the same order. */
function sortInPlace(keys: string[]): void {
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end] as string; // end < length
    let at = end;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
}

const memberNames = new Map<string, string>();
/** Far more keys than real events have; beyond it the names are built again. */
const MEMBER_NAMES_MAX = 10_000;

/** The key as it begins a member, `"key":`; undefined when it is no acceptable key. */
function memberName(key: string): string | undefined {
  const known = memberNames.get(key);
  if (known) return known;
  if (key === '' || key.length > USAGE_LIMITS.propertyKeyCharsMax || isUnstorable(key)) return undefined;
  if (memberNames.size >= MEMBER_NAMES_MAX) memberNames.clear();
  const name = `${quote(key)}:`;
  memberNames.set(key, name);
  return name;
}

/** A tag is the only U+0000, and nothing behind it needs an escape: JSON.stringify would cost 5 × as much. */
function storedJson(stored: string): string {
  return stored.charCodeAt(0) === 0 ? `"\\u0000${stored.slice(1)}"` : quote(stored);
}

function storedValue(value: unknown): string | undefined {
  if (typeof value === 'boolean') return BOOLEAN_TAG + value;
  const number = numberText(value);
  if (number !== undefined) {
    const decimal = decimalOf(number, everyDigit);
    return decimal === undefined ? undefined : NUMBER_TAG + decimal;
  }
  if (typeof value !== 'string' || value.length > USAGE_LIMITS.propertyValueCharsMax) return undefined;
  return isUnstorable(value) ? undefined : value;
}

/** No counter's limit applies: these are never added up, and are returned as they were sent. */
function everyDigit(text: string): string | undefined {
  return wholeDecimal(text, USAGE_LIMITS.propertyValueCharsMax);
}

function propertyFault(key: string): Rejection {
  const { propertyKeyCharsMax, propertyValueCharsMax } = USAGE_LIMITS;
  return invalid(
    `A property is a key of 1–${propertyKeyCharsMax} characters and a text of at most ` +
      `${propertyValueCharsMax}, a number of at most as many digits, or a boolean; ` +
      'no U+0000, no half surrogate pair.',
    `properties.${key.slice(0, propertyKeyCharsMax).toWellFormed()}`,
  );
}
