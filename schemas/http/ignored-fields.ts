/** Names in the header. The others are only counted, so that the headers of a response stay small. */
const NAMES_MAX = 20;
const NAME_CHARS_MAX = 64;

/**
 * The value of `X-Ignored-Fields`: `a, b`. Commas, and characters that a header cannot contain, are
 * percent-encoded.
 */
export function ignoredFieldsHeader(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => encodeName(name.slice(0, NAME_CHARS_MAX)));
  if (names.length > NAMES_MAX) shown.push(`and ${names.length - NAMES_MAX} more`);
  return shown.join(', ');
}

function encodeName(name: string): string {
  return name.toWellFormed().replace(/[^\x21-\x24\x26-\x2b\x2d-\x7e]+/g, encodeURIComponent);
}
