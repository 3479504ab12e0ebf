import type { TSchema } from 'typebox';
import { exactJson, numberText, parseExact } from '../../schemas/primitives/exact-json.ts';
import { branchOf } from './union-branch.ts';

/**
 * A response with every decimal of its schema as a JSON string (`Prefer: numbers=text`). It works on the
 * printed text, so that stored idempotent responses and printed cache entries take the same path. Whole
 * numbers such as `total` of a list stay, and so does what clients wrote themselves: properties, metadata,
 * recorded bodies.
 */
export function numbersAsText(schema: TSchema, json: string): string {
  return hasDecimals(schema) ? exactJson(textIn(schema, parseExact(json))) : json;
}

const known = new WeakMap<TSchema, boolean>();

/** A response without them can be large: that of a GraphQL query, whose decimals are texts. */
function hasDecimals(schema: TSchema): boolean {
  const has = known.get(schema) ?? JSON.stringify(schema).includes('"format":"decimal"');
  known.set(schema, has);
  return has;
}

interface Shape {
  format?: string;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
}

/** Only as deep as the schema. */
function textIn(schema: TSchema, value: unknown): unknown {
  const { format, properties = {}, patternProperties = {}, items, anyOf } = schema as Shape;
  const number = numberText(value);
  // No union of ours has two kinds of number, or two objects with a member of one name and two kinds.
  if (anyOf) return anyOf.reduce((made: unknown, branch) => textIn(branch, made), value);
  if (number !== undefined) return format === 'decimal' ? number : value;
  if (typeof value !== 'object' || value === null) return value;
  const branch = branchOf(schema, value);
  if (branch) return textIn(branch, value);
  if (Array.isArray(value)) return items ? value.map((inner) => textIn(items, inner)) : value;
  const [named] = Object.values(patternProperties);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const below = Object.hasOwn(properties, name) ? properties[name] : named;
      return [name, below ? textIn(below, inner) : inner];
    }),
  );
}
