import type { TSchema } from 'typebox';
import { branchOf } from './union-branch.ts';

interface Shape {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  required?: string[];
  items?: TSchema;
  anyOf?: TSchema[];
}

/**
 * Removes members that are null from a body, where the schema lets them be absent and does not accept null:
 * clients in Go, Java and others write null for unset fields. Returns true when there were any. Null values
 * in metadata are removed, too.
 */
export function dropNulls(schema: TSchema, body: unknown): boolean {
  const { properties = {}, patternProperties = {}, required = [], items, anyOf } = schema as Shape;
  if (typeof body !== 'object' || body === null) return false;
  const branch = branchOf(schema, body);
  if (branch) return dropNulls(branch, body);
  let dropped = false;
  for (const branch of anyOf ?? []) dropped = dropNulls(branch, body) || dropped;
  if (Array.isArray(body)) {
    for (const inner of body) dropped = (items !== undefined && dropNulls(items, inner)) || dropped;
    return dropped;
  }
  const members = body as Record<string, unknown>;
  const [named] = Object.values(patternProperties);
  // A member with a default is required once the default was filled in.
  const mayBeLeftOut = (name: string, below: TSchema) =>
    !required.includes(name) || Object.hasOwn(below, 'default');
  for (const [name, value] of Object.entries(members)) {
    const below = Object.hasOwn(properties, name) ? properties[name] : named;
    if (!below) continue;
    if (value !== null) dropped = dropNulls(below, value) || dropped;
    else if (mayBeLeftOut(name, below) && !takesNull(below)) {
      delete members[name];
      dropped = true;
    }
  }
  return dropped;
}

function takesNull(schema: TSchema): boolean {
  const { type, anyOf, const: only, enum: values } = schema as Shape;
  if (anyOf) return anyOf.some(takesNull);
  if (type === undefined && only === undefined && values === undefined) return true;
  return [type].flat().includes('null') || only === null || (values ?? []).includes(null);
}
