import { describe, expect, it } from 'vitest';
import { expectRejection } from '../api-under-test.ts';
import { processorOfThisFile } from '../processor/processor-under-test.ts';
import { auditEntries } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Mutants this suite catches: a price of another environment used as ours; a version made for a mapping; the
 * previous prices kept along with the new ones; one of the two ids of a customer named for the other.
 */
const made = await processorOfThisFile();

let named = 0;
const name = (what: string) => `${what}_1Theirs${++named}`;

describe('a mapping', () => {
  it('of a plan or an add-on is shown, replaced as a whole, and makes no version', async () => {
    const [one, two, three] = [name('price'), name('price'), name('price')].sort() as [
      string,
      string,
      string,
    ];
    const planId = await made.plan({ processorPriceIds: [two, one] });
    const params = { planId };
    await made.api.request('plans.publish', { params });
    const patch = async (body: object) => (await made.api.request('plans.update', { params, body })).body;
    const before = (await made.api.request('plans.retrieve', { params })).body;
    expect(before.processorPriceIds).toEqual([one, two]);
    expect(await patch({ processorPriceIds: [two, one] })).toEqual(before);
    expect(await patch({ processorPriceIds: [three] })).toMatchObject({
      version: 1,
      processorPriceIds: [three],
    });
    expect(await patch({ name: 'Other' })).toMatchObject({ version: 2, processorPriceIds: [three] });
    const addonId = await made.addon({ processorPriceIds: [three, one] });
    const shown = (await made.api.request('addons.retrieve', { params: { addonId } })).body;
    const { processorPriceIds, ...more } = shown;
    expect(processorPriceIds).toEqual([one, three].sort());
    const changed = await made.api.request('addons.update', {
      params: { addonId },
      body: { name: 'More', processorPriceIds: [] },
    });
    expect(changed.body).toEqual({ ...more, name: 'More', updatedAt: changed.body.updatedAt });
    expect((await auditEntries(made.api.pool, addonId)).map(({ action }) => action)).toEqual([
      'addons.create',
      'addons.update',
    ]);
  });

  it('belongs to one plan, one add-on and one customer of its environment', async () => {
    const [price, seat] = [name('price'), name('price')];
    await made.plan({ processorPriceIds: [price] });
    await made.addon({ processorPriceIds: [seat] });
    const processorCustomerId = name('cus');
    await made.customer({ processorCustomerId });
    const { request, keys } = made.api;
    const plan = { productId: 'p', name: 'P', processorPriceIds: [price] };
    const addon = { key: name('extra'), name: 'A', processorPriceIds: [seat] };
    const customer = { name: 'C', email: 'c@example.com', processorCustomerId };
    expectRejection(await request('createPlan', { body: plan }), 'already_exists', 'processorPriceIds');
    expectRejection(await request('addons.create', { body: addon }), 'already_exists', 'processorPriceIds');
    const again = await request('customers.create', { body: customer });
    expectRejection(again, 'already_exists', 'processorCustomerId');
    const [planId, addonId, customerId] = [await made.plan(), await made.addon(), await made.customer()];
    for (const requested of [
      await request('plans.update', { params: { planId }, body: { processorPriceIds: [price] } }),
      await request('addons.update', { params: { addonId }, body: { processorPriceIds: [seat] } }),
      await request('customers.update', { params: { customerId }, body: { processorCustomerId } }),
    ]) {
      expect(requested.status).toBe(409);
    }
    const key = keys.test.secret;
    expect((await request('createPlan', { key, body: plan })).status).toBe(201);
    expect((await request('addons.create', { key, body: addon })).status).toBe(201);
    expect((await request('customers.create', { key, body: customer })).status).toBe(201);
    // A plan and an add-on may have one price: the plan's seats.
    const body = { processorPriceIds: [price] };
    expect((await request('addons.update', { params: { addonId }, body })).status).toBe(200);
  });

  it('of a customer is set, changed and removed', async () => {
    const customerId = await made.customer();
    const params = { customerId };
    const patch = async (processorCustomerId: string | null) =>
      (await made.api.request('customers.update', { params, body: { processorCustomerId } })).body;
    expect(await patch('cus_a')).toMatchObject({ processorCustomerId: 'cus_a' });
    expect(await patch('cus_b')).toMatchObject({ processorCustomerId: 'cus_b' });
    expect(await patch(null)).not.toHaveProperty('processorCustomerId');
  });
});
