import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import { dropNulls } from './absent-members.ts';
import { checkOf } from './json-schema.ts';

const bodyOf = (operationId: OperationId) => (ROUTES[operationId] as Route).body as TSchema;

describe('null for an optional member', () => {
  it.each<[OperationId, object, object]>([
    [
      'customers.create',
      { name: 'a', email: null, externalId: null, metadata: null },
      { name: 'a', email: null },
    ],
    ['customers.create', { metadata: { a: null, b: 1, c: 'x' } }, { metadata: { b: 1, c: 'x' } }],
    [
      'plans.replaceEntitlements',
      { entitlements: [{ value: null, soft: null }] },
      { entitlements: [{ value: null }] },
    ],
    // Red where a member with a default counts as required: it is filled in before the check.
    ['subscriptions.cancel', { at: null }, {}],
    ['meters.update', { creditRate: null, unit: null }, { creditRate: null, unit: null }],
  ])('of %s reads %j as absent unless null has another meaning', (operationId, sent, taken) => {
    const body = structuredClone(sent);
    const dropped = dropNulls(bodyOf(operationId), body);
    expect(body).toEqual(taken);
    expect(dropped).toBe(JSON.stringify(sent) !== JSON.stringify(taken));
  });

  it('leaves what is required, what is unknown, and bodies of any shape alone', () => {
    for (const body of [null, [], [null], 'x', { name: null }, { name: 'a', colour: null }]) {
      const kept = structuredClone(body);
      expect(dropNulls(bodyOf('customers.create'), body)).toBe(false);
      expect(body).toEqual(kept);
    }
  });

  /** Red for a schema whose null this rule misses: its example or its nulls are rejected. */
  it('leaves the body of every operation one that is taken', () => {
    for (const [operationId, { body: schema, example }] of Object.entries<Route>(ROUTES)) {
      const properties = (schema as { properties?: object } | undefined)?.properties;
      if (!schema || !properties || !example) continue;
      const required = (schema as { required?: string[] }).required ?? [];
      const nulls = Object.keys(properties).filter((name) => !required.includes(name) && !(name in example));
      const body = { ...structuredClone(example), ...Object.fromEntries(nulls.map((name) => [name, null])) };
      dropNulls(schema, body);
      expect(() => checkOf(schema)(body), operationId).not.toThrow();
    }
  });
});
