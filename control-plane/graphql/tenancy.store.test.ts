import { afterAll, describe, expect, it } from 'vitest';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { ask, dataOf } from './graphql-under-test.ts';
import { queryOf, type WalkedField, walkSchema } from './schema-walk-under-test.ts';
import { argumentsOf, makeTenant, NAMING, OPTIONAL, type Tenant } from './tenant-under-test.ts';

/*
 * Every field that a query leads to, asked for another workspace's objects and for those of the other mode.
 *
 * Mutants this suite catches: the environment left out of a list, of a read of many, of a count; a meter of
 * another environment taken for one of the own.
 */
const { warehouse, reader } = await openLogAndWarehouse(afterAll);
const api = await apiOfThisFile({ warehouse, logReader: reader });
const other = await api.addWorkspace();
const own = await makeTenant(api, 'own-live', api.keys.live.secret);
const theirs = {
  'another workspace': await makeTenant(api, 'their-live', other.live.secret),
  'the other mode': await makeTenant(api, 'own-test', api.keys.test.secret),
};
const fields = walkSchema().filter(({ as }) => as !== undefined);

/** The ids and names of a tenant's objects. */
function textsOf({ key, ...tenant }: Tenant): string[] {
  return Object.values(tenant);
}

function fieldsNaming(argument: string): WalkedField[] {
  return fields.filter(({ way }) =>
    way.some(({ owner, field }) => argument.startsWith(`${owner}.${field.name}.`)),
  );
}

describe('a field', () => {
  it.each(fields.map((one) => [one.name, one] as const))('%s shows own objects alone', async (_, field) => {
    const { data, errors } = await ask(api, queryOf(field, argumentsOf(own)));
    expect(errors).toEqual([]);
    const shown = JSON.stringify(data);
    for (const tenant of Object.values(theirs)) {
      for (const text of textsOf(tenant)) expect(shown).not.toContain(text);
    }
  });

  it('leads to every object that a tenant has', async () => {
    const shown = await Promise.all(
      fields.map(async (one) => JSON.stringify(await dataOf(api, queryOf(one, argumentsOf(own))))),
    );
    for (const text of textsOf(own)) expect(shown.some((one) => one.includes(text))).toBe(true);
  });
});

describe.each(Object.entries(theirs))('of %s', (_, foreign) => {
  it.each(Object.keys(NAMING))('nothing is shown by the argument %s', async (argument) => {
    const asked = fieldsNaming(argument);
    expect(asked.length).toBeGreaterThan(0);
    for (const field of asked) {
      const query = queryOf(field, argumentsOf(own, { argument, of: foreign }));
      const { data, errors } = await ask(api, query);
      const named = foreign[NAMING[argument] as keyof Tenant];
      const shown = JSON.stringify([data, errors]).replaceAll(named, '');
      for (const text of textsOf(foreign)) expect(shown).not.toContain(text);
      for (const { code } of errors) expect(code).toMatch(/not_found$/);
      if (!OPTIONAL.has(argument)) expect(errors, query).not.toEqual([]);
    }
  });

  it('counts are not in the own counts', async () => {
    const query = `{ customers { totalCount nodes { subscriptions { totalCount } overrides { totalCount } } }
      plans { totalCount } meters { totalCount } addons { totalCount } features { totalCount } }`;
    const data = await dataOf(api, query);
    const one = { totalCount: 1 };
    const customers = { totalCount: 1, nodes: [{ subscriptions: one, overrides: one }] };
    expect(data).toEqual({ customers, plans: one, meters: one, addons: one, features: one });
    expect(await dataOf(api, query, { key: foreign.key })).toEqual(data);
  });
});
