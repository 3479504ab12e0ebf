import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { unknownFields } from './unknown-fields.ts';

/*
 * Red when lists, or unions with null, are not searched: a misspelt `soft` of an entitlement would be
 * ignored, also for a client that requested errors.
 */
interface Schema {
  type?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  discriminator?: { propertyName: string };
  oneOf?: Array<Schema & { properties: Record<string, { const?: unknown }> }>;
}

const bodies = Object.entries<Route>(ROUTES).flatMap(([operationId, { body }]) =>
  body ? [[operationId, body] as const] : [],
);

describe('a misspelt field', () => {
  it.each(bodies)('of %s is found in every object that its schema lists the fields of', (_, body) => {
    const objects = objectsIn(body as Schema);
    expect(objects, 'objects that this test cannot reach').toHaveLength(countObjects(body));
    for (const path of objects) {
      const place = path.filter((name) => !name.includes('='));
      expect(unknownFields(body, bodyWith([...path, 'sofft']))).toEqual([[...place, 'sofft'].join('.')]);
    }
  });

  it('is named with the place of its item, each of many', () => {
    const { body } = ROUTES['plans.replaceEntitlements'];
    const given = { featureKey: 'seats', value: 1 };
    const entitlements = [given, { ...given, sofft: true }, { ...given, sof: 1, t: {} }];
    expect(unknownFields(body, { entitlements, also: 1 })).toEqual([
      'entitlements.1.sofft',
      'entitlements.2.sof',
      'entitlements.2.t',
      'also',
    ]);
  });

  it('is none where names are free', () => {
    const { body } = ROUTES['customers.create'];
    expect(unknownFields(body as TSchema, { metadata: { anything: 1 } })).toEqual([]);
  });
});

/** The places of objects with listed fields: of a list its first item, of a union each branch (`a=b`). */
function objectsIn(schema: Schema, path: string[] = []): string[][] {
  const { properties, items, anyOf = [], discriminator, oneOf = [] } = schema;
  const tag = discriminator?.propertyName ?? '';
  return [
    ...(properties ? [path] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => objectsIn(inner, [...path, name])),
    ...(items ? objectsIn(items, [...path, '0']) : []),
    ...anyOf.flatMap((branch) => objectsIn(branch, path)),
    ...oneOf.flatMap((branch) => objectsIn(branch, [...path, `${tag}=${branch.properties[tag]?.const}`])),
  ];
}

/** Under any keyword. */
function countObjects(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 0;
  const { type, properties } = node as Schema;
  const own = type === 'object' && properties ? 1 : 0;
  return Object.values(node).reduce((sum: number, inner) => sum + countObjects(inner), own);
}

/** `{a: [{b: 1}]}` for `a.0.b`. */
function bodyWith([name, ...below]: string[]): unknown {
  if (name === undefined) return 1;
  const [tag, value] = name.split('=');
  if (tag && value) return Object.assign({ [tag]: value }, bodyWith(below));
  return name === '0' ? [bodyWith(below)] : { [name]: bodyWith(below) };
}
