/** The preferences of a request (RFC 7240) that the API supports. */
export interface Preferences {
  /** `handling=strict`: unknown fields, and values that would be rounded, are rejected. */
  isStrict: boolean;
  /** `numbers=text`: every decimal of the response is a JSON string. */
  numbersAsText: boolean;
}

const NONE: Preferences = { isStrict: false, numbersAsText: false };

/** Reads a `Prefer` header, or several joined by commas. The first value of a preference counts. */
export function readPreferences(header: string | undefined): Preferences {
  if (header === undefined || header === '') return NONE;
  const first = new Map<string, string>();
  for (const [, name = '', quoted, token = ''] of header.matchAll(PREFERENCE)) {
    const key = name.toLowerCase();
    if (!first.has(key)) first.set(key, (quoted ?? token).toLowerCase());
  }
  return { isStrict: first.get('handling') === 'strict', numbersAsText: first.get('numbers') === 'text' };
}

/**
 * A name and its value, and its parameters up to the comma, which are ignored. A comma may be quoted.
 */
const PREFERENCE = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s",;]*)))?(?:"[^"]*"|[^",])*,?/g;

/** The value of `Preference-Applied`; undefined if no preference was applied. */
export function appliedPreferences({ isStrict, numbersAsText }: Preferences): string | undefined {
  if (!isStrict && !numbersAsText) return undefined;
  return [isStrict ? 'handling=strict' : [], numbersAsText ? 'numbers=text' : []].flat().join(', ');
}
