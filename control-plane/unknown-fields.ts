import type { TSchema } from 'typebox';

/**
 * Fields of a checked body that its schema does not name, as dotted paths: `entitlements.0.sofft`. Looks into
 * objects whose fields are listed, and into lists of them. Each value of the body is looked at once at most.
 */
export function unknownFields(schema: TSchema, body: unknown): string[] {
  const { properties, items, anyOf } = schema as Shape;
  if (typeof body !== 'object' || body === null) return [];
  // No union of ours has two objects: whichever branch lists fields is the one that took it.
  if (anyOf) return anyOf.flatMap((branch) => unknownFields(branch, body));
  if (!properties && !items) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const inner = items ?? (Object.hasOwn(properties ?? {}, name) ? properties?.[name] : undefined);
    return inner ? unknownFields(inner, value).map((below) => `${name}.${below}`) : [name];
  });
}

interface Shape {
  properties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
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
