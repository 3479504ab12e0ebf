import { isObject, markedNumber } from '../engine/js/parse.ts';

const DEPTH_MAX = 16;

/** A list of `{key, value}` of OTLP as one object. */
export function plainAttributes(list: unknown, depth = 0): Record<string, unknown> {
  if (!Array.isArray(list)) return {};
  const entries = list.flatMap((one) => {
    return isObject(one) && typeof one.key === 'string' ? [[one.key, plainValue(one.value, depth)]] : [];
  });
  return Object.fromEntries(entries);
}

/** An AnyValue of OTLP (JSON) as the JSON that it means. A number that a double would round stays a text. */
export function plainValue(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > DEPTH_MAX) return undefined;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (stringValue !== undefined) return stringValue;
  if (boolValue !== undefined) return boolValue;
  if (intValue !== undefined) return integerOf(intValue);
  if (doubleValue !== undefined) return doubleValue;
  if (isObject(kvlistValue)) return plainAttributes(kvlistValue.values, depth + 1);
  if (isObject(arrayValue) && Array.isArray(arrayValue.values)) {
    return arrayValue.values.map((one) => plainValue(one, depth + 1));
  }
  return bytesValue;
}

/** 64-bit numbers are texts in the JSON of OTLP. */
function integerOf(value: unknown): unknown {
  const text = typeof value === 'string' ? (markedNumber(value) ?? value) : value;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}
