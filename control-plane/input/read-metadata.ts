import type { Static } from 'typebox';
import { exactJson, exactNumber, numberText, parseExact } from '../../schemas/primitives/exact-json.ts';
import type { PlainValues } from '../../schemas/resources/fields.ts';
import { readDecimal } from './read-decimal.ts';

/** The `metadata` of a body: {@link readPlainValues}. */
export function readMetadata(bodyText: string): string | undefined {
  return readPlainValues(bodyText, 'metadata');
}

/**
 * A member of a body as JSON, from the body's own text: a double would round 123456789.000000000001 and make
 * 1e400 infinite. Undefined where there is none. Throws Rejected `value_invalid`.
 */
export function readPlainValues(bodyText: string, member: string): string | undefined {
  // mutant: metadata-rounded
  const { [member]: values } = parseExact(bodyText) as Record<string, Record<string, unknown> | undefined>;
  if (values === undefined) return undefined;
  const entries = Object.entries(values).map(([name, value]) => {
    const isNumber = numberText(value) !== undefined;
    return [name, isNumber ? exactNumber(readDecimal(value, `${member}.${name}`)) : value];
  });
  return exactJson(new Map(entries as Array<[string, unknown]>));
}

/** The metadata of a row for a response: jsonb keeps every digit, and its text is parsed without a double. */
export function shownMetadata(json: string | null): { metadata?: Static<typeof PlainValues> } {
  return json === null ? {} : { metadata: parseExact(json) as Static<typeof PlainValues> };
}
