import type { TSchema } from 'typebox';
import { branchOf } from './union-branch.ts';

/**
 * Fields of a body that its schema does not name, as dotted paths: `entitlements.0.sofft`. Descends into
 * objects whose fields are listed, and into lists of them. Visits each value of the body at most once.
 */
export function unknownFields(schema: TSchema, body: unknown): string[] {
  const { properties, items, anyOf } = schema as Shape;
  if (typeof body !== 'object' || body === null) return [];
  const branch = branchOf(schema, body);
  if (branch) return unknownFields(branch, body);
  // No union without a discriminator has two objects: the branch that lists fields is the matching one.
  if (anyOf) return anyOf.flatMap((branch) => unknownFields(branch, body));
  if (!properties && !items) return [];
  if (Array.isArray(body) !== (items !== undefined)) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const inner = items ?? (Object.hasOwn(properties ?? {}, name) ? properties?.[name] : undefined);
    return inner ? unknownFields(inner, value).map((below) => `${name}.${below}`) : [name];
  });
}

/** Names that are known at the place of this unknown field, for a hint. */
export function siblingNames(schema: TSchema, path: string): string[] {
  const [name, ...below] = path.split('.');
  const { properties = {}, items, anyOf, oneOf } = schema as Shape;
  const branches = anyOf ?? oneOf;
  if (branches) return branches.flatMap((branch) => siblingNames(branch, path));
  const inner = items ?? (Object.hasOwn(properties, name ?? '') ? properties[name ?? ''] : undefined);
  return inner && below.length > 0 ? siblingNames(inner, below.join('.')) : Object.keys(properties);
}

interface Shape {
  properties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
  oneOf?: TSchema[];
}
