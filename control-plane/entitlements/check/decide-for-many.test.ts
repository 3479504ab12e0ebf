import { expect, it } from 'vitest';
import { Rejected } from '../../../schemas/failures.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { type DecideDeps, decideForMany } from './decide-for-many.ts';

/*
 * Customers with more grants than are read with those of others. That the decisions are those of a check is
 * shown where there are stores.
 *
 * Mutants this suite catches: all of them read at once; one whose read fails takes the others with it.
 */
it('customers with too many grants are read one after the other, each with its own outcome', async () => {
  const customers = ['a', 'b', 'c'];
  const db = { query: async () => ({ rows: customers.map((customerId) => ({ customerId, grants: 1e6 })) }) };
  let [underWay, most] = [0, 0];
  const decide = async (_: unknown, { customer }: { customer: string }) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    if (customer === 'b') throw new Rejected('overloaded', 'Not now.');
    return [JSON.stringify({ customerId: customer })];
  };
  const deps = {
    customerGrantsReads: (_: unknown, read: (given: typeof db) => unknown) => read(db),
    checks: { decide },
  } as unknown as DecideDeps;
  const context = { db, environment: 'ws_a:live', nowMs: 0 } as unknown as RequestContext;
  const questions = customers.map((customerId) => ({ customerId, featureKeys: ['x'] }));
  const [first, second, third] = await decideForMany(deps, context, questions);
  expect(most).toBe(1);
  expect([first, third]).toEqual([[{ customerId: 'a' }], [{ customerId: 'c' }]]);
  expect(second).toMatchObject({ rejection: { code: 'overloaded' } });
});
