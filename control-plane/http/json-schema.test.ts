import { type TSchema, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Rejected } from '../../schemas/failures.ts';
import type { Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import { type Check, checkOf, textCheckOf } from './json-schema.ts';

/*
 * The messages of rejections. Red when the validator's own words come through: `must match pattern …` for an
 * id, `must be string` where numbers are accepted too.
 */
describe('a rejected body', () => {
  const customer = { name: 'Ada', email: 'ada@example.com' };

  it.each([
    [{ name: '' }, 'name', 'must not be empty'],
    [{ name: ' \u00a0\n' }, 'name', 'must contain a character other than white space'],
    [{ name: 'x'.repeat(201) }, 'name', 'must have at most 200 characters'],
    [{ name: 7 }, 'name', 'must be a string'],
    [{ name: undefined }, 'name', 'is required'],
    [{ email: 'ada' }, 'email', 'must be an email address, like ada@example.com'],
    [
      { externalId: 'cus_1' },
      'externalId',
      'must not begin with cus_, nor be events, check, levels, live, feed, `.` or `..`',
    ],
    [{ metadata: { k: [1] } }, 'metadata.k', 'must be a string, a number or a boolean'],
    [{ metadata: { k: 'x'.repeat(257) } }, 'metadata.k', 'must have at most 256 characters'],
  ])('of a customer gets for %j a message with what to do', (fields, param, reason) => {
    const message = `\`${param}\` ${reason}.`;
    expect(rejectionOf('customers.create', { ...customer, ...fields })).toEqual({ param, message });
  });

  const checkOfMany = (requested: number) => ({
    customerId: 'c',
    features: [{ featureKey: 'a', requested }],
  });
  const ratedBy = (property: unknown, rates: object) => ({ creditRates: { property, rates } });
  const given = (value: unknown) => ({ entitlements: [{ featureKey: 'a', value }] });

  it.each<[OperationId, unknown, string, string]>([
    ['apiKeys.create', { kind: 'secret', scopes: ['*', '*'] }, 'scopes', 'must not contain duplicates'],
    ['apiKeys.create', { kind: 'x' }, 'kind', 'must be one of secret, publishable'],
    ['apiKeys.rotate', { overlapSeconds: -1 }, 'overlapSeconds', 'must be a whole number from 0 to 2592000'],
    ['entitlements.checkMany', checkOfMany(-1), 'features.0.requested', 'must be a number of at least 0'],
    ['entitlements.checkMany', { customerId: 'c', features: [] }, 'features', 'must not be empty'],
    ['meters.update', { creditRate: 'x' }, 'creditRate', 'must be a number or null'],
    ['meters.update', { creditRate: -1 }, 'creditRate', 'must be a number of at least 0'],
    ['credits.grant', { amount: 0, reason: 'x' }, 'amount', 'must be more than 0'],
    ['meters.update', ratedBy(5, { eu: 1 }), 'creditRates.property', 'must be a string'],
    ['meters.update', ratedBy('region', {}), 'creditRates.rates', 'must not be empty'],
    ['plans.replaceEntitlements', given('x'), 'entitlements.0.value', 'must be a boolean, a number or null'],
  ])('of %s gets for %j a message with what to do', (operationId, body, param, reason) => {
    expect(rejectionOf(operationId, body)).toEqual({ param, message: `\`${param}\` ${reason}.` });
  });

  it('names the body itself, and the name of a value, where that is at fault', () => {
    expect(rejectionOf('customers.create', [])).toEqual({ message: 'The body must be an object.' });
    expect(rejectionOf('customers.create', { ...customer, metadata: { '': 1 } })).toEqual({
      param: 'metadata.',
      message: 'The name of `metadata.` must not be empty.',
    });
  });

  it('is one with a blank name, whatever it names', () => {
    for (const [operationId, { body, example }] of Object.entries<Route>(ROUTES)) {
      if (!Object.hasOwn((body as { properties?: object })?.properties ?? {}, 'name')) continue;
      expect(rejectionOf(operationId as OperationId, { ...example, name: ' ' })).toEqual({
        param: 'name',
        message: '`name` must contain a character other than white space.',
      });
    }
  });

  it('has words of our own for every pattern that a request may violate', () => {
    const wordless: string[] = [];
    for (const [operationId, { params, query, body, plane }] of Object.entries<Route>(ROUTES)) {
      if (plane !== 'control') continue;
      eachSchema([params, query, body], ({ pattern, 'x-pattern-rule': rule }) => {
        if (typeof pattern === 'string' && typeof rule !== 'string')
          wordless.push(`${operationId} ${pattern}`);
      });
    }
    expect(wordless).toEqual([]);
  });

  it('uses our own words for every keyword that a request may violate', () => {
    const keywords = new Set<string>();
    for (const { params, query, body } of Object.values<Route>(ROUTES)) {
      eachSchema([params, query, body], (schema) => {
        for (const keyword of Object.keys(schema)) if (Object.hasOwn(BROKEN, keyword)) keywords.add(keyword);
      });
    }
    expect([...keywords].sort()).toEqual(Object.keys(BROKEN).sort());
    for (const [schema, value] of Object.values(BROKEN)) {
      const { message } = rejection(checkOf(schema), value);
      expect(message).not.toMatch(/NOT|must match|fewer|items|pattern|>=|<=/);
    }
  });
});

describe('the checks of every operation', () => {
  /** Schemas are compiled with their first request, which is late to find a schema that does not compile. */
  it('can be compiled', () => {
    for (const { params, query, body = Type.Object({}) } of Object.values<Route>(ROUTES)) {
      for (const check of [textCheckOf(params), textCheckOf(query), checkOf(body)]) {
        try {
          check({});
        } catch (error) {
          expect(error).toBeInstanceOf(Rejected);
        }
      }
    }
  });
});

describe('a rejected parameter', () => {
  it.each<[OperationId, Record<string, string>, string, string]>([
    ['plans.list', { page: '0' }, 'page', '`page` must be a whole number from 1 to 2147483647.'],
    ['plans.list', { page: 'x' }, 'page', '`page` must be a whole number.'],
    ['plans.list', { pageSize: '101' }, 'pageSize', '`pageSize` must be a whole number from 1 to 100.'],
    ['entitlements.check', { requested: '-1' }, 'requested', '`requested` must be a number of at least 0.'],
  ])('of %s gets for %j a message with what to do', (operationId, query, param, message) => {
    const route: Route = ROUTES[operationId];
    expect(rejection(textCheckOf(route.query), query)).toEqual({ param, message });
  });
});

/** By keyword, a schema and a value that violates it. */
const BROKEN: Record<string, [TSchema, unknown]> = {
  type: [Type.String(), 1],
  enum: [Type.Enum(['a', 'b']), 'c'],
  const: [Type.Literal('a'), 'b'],
  anyOf: [Type.Union([Type.String(), Type.Null()]), 1],
  required: [Type.Object({ a: Type.String() }), {}],
  format: [Type.String({ format: 'email' }), 'a'],
  pattern: [Type.String({ pattern: '^a', 'x-pattern-rule': 'must begin with a' }), 'b'],
  minLength: [Type.String({ minLength: 8 }), 'a'],
  maxLength: [Type.String({ maxLength: 1 }), 'ab'],
  minimum: [Type.Number({ minimum: 1 }), 0],
  maximum: [Type.Number({ maximum: 1 }), 2],
  minItems: [Type.Array(Type.String(), { minItems: 2 }), ['a']],
  maxItems: [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b']],
  uniqueItems: [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a']],
  minProperties: [Type.Record(Type.String(), Type.Number(), { minProperties: 1 }), {}],
  maxProperties: [Type.Record(Type.String(), Type.Number(), { maxProperties: 0 }), { a: 1 }],
  propertyNames: [Type.Record(Type.String(), Type.Number(), { propertyNames: { maxLength: 1 } }), { ab: 1 }],
};

function rejectionOf(operationId: OperationId, body: unknown) {
  const route: Route = ROUTES[operationId];
  return rejection(checkOf(route.body as TSchema), body);
}

function rejection(check: Check, value: unknown): { message: string; param?: string } {
  try {
    check(value);
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    const { message, param } = error.rejection;
    return { message, ...(param === undefined ? {} : { param }) };
  }
  throw new Error('it is not rejected');
}

function eachSchema(node: unknown, see: (schema: Record<string, unknown>) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) see(node as Record<string, unknown>);
  for (const inner of Object.values(node)) eachSchema(inner, see);
}

// Red with Type.Record(Type.String(), …): the value of a name with a line break is not checked.
it.each(Object.entries<Route>(ROUTES))(
  '%s checks the values of all names',
  (_, { body, query, response }) => {
    expect(JSON.stringify([body, query, response])).not.toContain('"^.*$"');
  },
);
