import type { TSchema } from 'typebox';

/**
 * Fields of a body that its schema does not name, as dotted paths; looks into objects whose fields are
 * listed.
 */
export function unknownFields(schema: TSchema, body: unknown): string[] {
  const { properties } = schema as { properties?: Record<string, TSchema> };
  if (!properties || typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return inner ? unknownFields(inner, value).map((below) => `${name}.${below}`) : [name];
  });
}

/** Names in the header; what is beyond is counted only, so that an answer's head stays small. */
const NAMES_MAX = 20;
const NAME_CHARS_MAX = 64;

/** For `X-Ignored-Fields`: `a, b`; whatever a header cannot hold, and commas, percent-encoded. */
export function ignoredFieldsHeader(names: string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => encodeName(name.slice(0, NAME_CHARS_MAX)));
  if (names.length > NAMES_MAX) shown.push(`and ${names.length - NAMES_MAX} more`);
  return shown.join(', ');
}

function encodeName(name: string): string {
  return name.toWellFormed().replace(/[^\x21-\x24\x26-\x2b\x2d-\x7e]+/g, encodeURIComponent);
}
