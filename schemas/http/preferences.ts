/** What a request prefers (RFC 7240), of what is known here. */
export interface Preferences {
  /** `handling=strict`: unknown fields, and values that would be rounded, are refused. */
  isStrict: boolean;
  /** `numbers=text`: every decimal of the answer is a JSON string. */
  numbersAsText: boolean;
}

const NONE: Preferences = { isStrict: false, numbersAsText: false };

/** Of a `Prefer` header, or of several that are joined by commas. Of one preference the first counts. */
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
 * A name and its value, and its parameters up to the comma, which are not looked at. A comma may be quoted.
 */
const PREFERENCE = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s",;]*)))?(?:"[^"]*"|[^",])*,?/g;

/** For `Preference-Applied`; undefined where nothing was. */
export function appliedPreferences({ isStrict, numbersAsText }: Preferences): string | undefined {
  if (!isStrict && !numbersAsText) return undefined;
  return [isStrict ? 'handling=strict' : [], numbersAsText ? 'numbers=text' : []].flat().join(', ');
}
