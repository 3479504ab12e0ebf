import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { SCOPES } from '../../schemas/scopes.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { ask } from './graphql-under-test.ts';
import { isMember, operationOf, queryOf, type WalkedField, walkSchema } from './schema-walk-under-test.ts';
import { argumentsOf, makeTenant } from './tenant-under-test.ts';

/*
 * The scope of each field, for every field that the schema has.
 *
 * Mutants this suite catches: a field without a scope; the scope of another operation; every secret key may
 * read every field; a denied field that takes its neighbours with it.
 */
const api = await apiOfThisFile();
const own = await makeTenant(api, 'scoped', api.keys.live.secret);
const guarded = walkSchema().filter(({ as }) => as !== undefined);
const scopeOf = ({ as }: Pick<WalkedField, 'as'>): string => (as ? ROUTES[as].access : '');
const needing = guarded.filter((one) => (SCOPES as readonly string[]).includes(scopeOf(one)));

/** Fields that say more of what their object shows already, or are parts of lists. */
const OF_THEIR_OBJECT =
  /^(\w+Connection|\w+Edge|\w+Page|PageInfo|WebhookEvent|Health|HealthCheck)\.|\.unlimited$/;

/** Written a second time: a field that is new, or whose scope changes, is seen. */
const SCOPE_OF_FIELDS: Record<string, string[]> = {
  'customers:view': ['Query.customer', 'Query.customers', 'CustomerSubscription.customer'],
  'entitlements:read': [
    'Customer.budgets',
    'Customer.creditLedger',
    'Customer.credits',
    'Customer.entitlements',
    'Customer.overrides',
  ],
  'keys:manage': ['Query.apiKey', 'Query.apiKeys', 'Query.auditLog'],
  'plans:read': [
    'Query.addon',
    'Query.addons',
    'Query.feature',
    'Query.features',
    'Query.funnel',
    'Query.meter',
    'Query.meters',
    'Query.plan',
    'Query.plans',
    'Query.products',
    'Addon.entitlements',
    'Addon.prices',
    'Plan.entitlements',
    'Plan.prices',
    'CustomerSubscription.plan',
  ],
  'subscriptions:write': ['Query.subscription', 'Query.subscriptions', 'Customer.subscriptions'],
  'usage:read': [
    'Customer.cost',
    'CustomerSubscription.cost',
    'Meter.usage',
    'Query.usageLevels',
    'Customer.breakdown',
    'Customer.counter',
    'Customer.counters',
    'Customer.usageEvents',
  ],
  'webhooks:read': [
    'Query.webhookDeliveries',
    'Query.webhookDelivery',
    'Query.webhookEndpoint',
    'Query.webhookEndpoints',
    'Query.webhookEvent',
    'Query.webhookEvents',
    'WebhookDelivery.attempts',
    'WebhookDelivery.endpoint',
    'WebhookDelivery.event',
    'WebhookEndpoint.deliveries',
  ],
  any_key: ['Query.workspace'],
  public: ['Query.health'],
};

describe('a field', () => {
  it('has the scope that is specified', () => {
    const scopes = [...new Set(guarded.map(scopeOf))].sort();
    const seen = scopes.map((scope) => {
      const fields = guarded.filter((one) => scopeOf(one) === scope).map(({ name }) => name);
      return [scope, fields.sort()];
    });
    const specified = Object.entries(SCOPE_OF_FIELDS).map(([scope, names]) => [scope, names.sort()]);
    expect(seen).toEqual(specified.sort());
  });

  it('shows a member of its object, or has a scope and may be null', () => {
    const others = walkSchema().filter(({ field, as }) => !isMember(field) && as === undefined);
    const unguarded = others.map(({ name }) => name).filter((name) => !OF_THEIR_OBJECT.test(name));
    expect(unguarded).toEqual([]);
    expect(guarded.filter(({ field }) => String(field.type).endsWith('!')).map(({ name }) => name)).toEqual(
      [],
    );
  });

  it.each(needing.map((one) => [one.name, scopeOf(one), one] as const))(
    '%s needs %s, and is null without it',
    async (_, scope, walked) => {
      const query = queryOf(walked, argumentsOf(own));
      const scopes = SCOPES.filter((other) => other !== scope);
      const { data, errors } = await ask(api, query, { key: await api.addKey({ scopes }) });
      const at = walked.way.findIndex(({ field }) => scopeOf({ as: operationOf(field) }) === scope);
      const denied = errors.filter(({ code }) => code === 'insufficient_scope');
      const message = `This field needs the scope ${scope}.`;
      const path = walked.way.slice(0, at + 1).map(({ field }) => field.name);
      expect(denied.length).toBeGreaterThan(0);
      for (const one of denied) {
        expect(one).toMatchObject({ message });
        expect(one.path?.filter((step) => typeof step === 'string')).toEqual(path);
      }
      expect(data).toBeDefined();
      expect(JSON.stringify(data)).not.toContain(`"${path.at(-1)}":{`);
    },
  );

  it.each(guarded.map((one) => [one.name, one] as const))('%s needs no other scope', async (_, walked) => {
    const scopes = walked.way.map(({ field }) => scopeOf({ as: operationOf(field) }));
    const needed = SCOPES.filter((one) => scopes.includes(one));
    const key = await api.addKey({ scopes: needed.length === 0 ? ['usage:write'] : needed });
    const { errors } = await ask(api, queryOf(walked, argumentsOf(own)), { key });
    // ClickHouse is unavailable here.
    expect(errors.filter(({ code }) => code !== 'unavailable')).toEqual([]);
  });
});
