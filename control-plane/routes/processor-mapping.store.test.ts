import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../api-under-test.ts';
import { WAITING_BOUNDS } from '../processor/kept-event.ts';
import { NOW_MS, processorOfThisFile } from '../processor/processor-under-test.ts';
import { API_VERSIONS } from '../processor/stripe-under-test.ts';
import { giveUpEvents } from '../store/processor-events.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Prices, quantities and customers of the processor, and which objects here they map to.
 *
 * Mutants this suite catches: a mapping read without its environment, or by the price alone; the quantity not
 * read; an unmatched event forgotten, or applied twice; a mapping without a notification; a local change
 * undone by a retried event; the bounds left out.
 */
const WAIT = { timeout: 30_000, interval: 50 };

const made = await processorOfThisFile();

beforeEach(() => {
  made.clock.ms = NOW_MS;
});

let named = 0;
const name = (what: string) => `${what}_1Theirs${++named}`;

/** A plan and an add-on with a price each. */
async function priced() {
  const [price, seat] = [name('price'), name('price')];
  const planId = await made.plan({ processorPriceIds: [price] });
  const addonId = await made.addon({ processorPriceIds: [seat] });
  return { price, seat, planId, addonId };
}

describe.each(API_VERSIONS)('with payloads of %s', (version) => {
  it('a subscription is made, changes its plan and its seats, and loses them', async () => {
    const { price, seat, planId, addonId } = await priced();
    const other = await priced();
    const [id, customer] = [name('sub'), name('cus')];
    const customerId = await made.customer({ processorCustomerId: customer });
    const notify = (seconds: number, items: Array<{ price: string; quantity?: number | null }>) => {
      const subscription = { id, customer, items, metadata: { sessionId: 'mount-1' } };
      return made.notify({ created: made.at(seconds), version, subscription });
    };
    await notify(-50, [{ price }, { price: seat, quantity: 3 }]);
    const [first, ...others] = await made.linkedTo(id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      customerId,
      planId,
      status: 'active',
      processorSubscriptionId: id,
      addons: [{ addonId, quantity: 3 }],
      metadata: { sessionId: 'mount-1' },
    });
    await notify(-40, [{ price: other.price }, { price: seat, quantity: 5 }]);
    expect(await made.read(first.id)).toMatchObject({
      planId: other.planId,
      addons: [{ addonId, quantity: 5 }],
    });
    await notify(-30, [{ price: other.price, quantity: null }]);
    expect(await made.read(first.id)).toMatchObject({ addons: [] });
    expect(await made.outcomes(id)).toEqual(['applied', 'applied', 'applied']);
    const types = (await emittedEvents(made.api.pool, first.id)).map(({ type }) => type);
    expect(types).toEqual(['subscription.created', 'subscription.updated', 'subscription.updated']);
  });
});

describe('a subscription of a customer', () => {
  it.each(['id', 'externalId'])('that its metadata names by %s is made here', async (by) => {
    const { price, planId } = await priced();
    const [id, externalId] = [name('sub'), name('acme')];
    const customerId = await made.customer({ externalId });
    const metadata = { customerId: by === 'id' ? customerId : externalId };
    await made.notify({ created: made.at(-9), subscription: { id, items: [{ price }], metadata } });
    expect(await made.linkedTo(id)).toMatchObject([{ customerId, planId }]);
    const [{ id: ours }] = (await made.linkedTo(id)) as [{ id: string }];
    expect(await auditEntries(made.api.pool, ours)).toMatchObject([
      { actor: 'processor', action: 'processor.receiveEvent', before: null },
    ]);
  });

  it('is made once, whatever comes at once and in whatever order', async () => {
    const { price } = await priced();
    const [id, customer] = [name('sub'), name('cus')];
    await made.customer({ processorCustomerId: customer });
    const notify = (seconds: number, status: string) =>
      made.notify({ created: made.at(seconds), subscription: { id, customer, status, items: [{ price }] } });
    await Promise.all([
      notify(-1, 'past_due'),
      notify(-3, 'incomplete'),
      notify(-2, 'active'),
      notify(-1, 'past_due'),
    ]);
    expect(await made.linkedTo(id)).toMatchObject([{ status: 'past_due' }]);
  });

  it('of the other mode, or another workspace, is not known', async () => {
    const { price } = await priced();
    const [id, customer] = [name('sub'), name('cus')];
    await made.customer({ processorCustomerId: customer });
    const subscription = { id, customer, items: [{ price }] };
    await made.notify({ created: made.at(-9), livemode: false, subscription });
    expect(await made.linkedTo(id)).toEqual([]);
    expect(await made.outcomes(id)).toEqual([]);
    const query = { processorSubscriptionId: id };
    const { body } = await made.api.request('processor.listEvents', {
      key: made.api.keys.test.secret,
      query,
    });
    expect(body.data).toMatchObject([
      {
        status: 'unmatched',
        reasons: ['subscription_not_linked', 'customer_not_known', 'price_not_mapped'],
        processorCustomerId: customer,
        missingPriceIds: [price],
      },
    ]);
  });

  it('that is archived, or on an archived plan, waits with that reason', async () => {
    const { price, planId } = await priced();
    const customer = name('cus');
    const customerId = await made.customer({ processorCustomerId: customer });
    await made.api.request('customers.archive', { params: { customerId } });
    const [first, second] = [name('sub'), name('sub')];
    await made.notify({ created: made.at(-9), subscription: { id: first, customer, items: [{ price }] } });
    expect(await made.outcomes(first)).toEqual(['unmatched subscription_not_linked customer_archived']);
    await made.api.request('plans.archive', { params: { planId } });
    const known = name('cus');
    await made.customer({ processorCustomerId: known });
    const subscription = { id: second, customer: known, items: [{ price }] };
    await made.notify({ created: made.at(-9), subscription });
    expect(await made.outcomes(second)).toEqual(['unmatched subscription_not_linked plan_archived']);
  });
});

describe('what is not mapped', () => {
  /** An event that waits for customer and price. */
  async function waiting() {
    const [id, customer, price, seat] = [name('sub'), name('cus'), name('price'), name('price')];
    const items = [{ price }, { price: seat, quantity: 4 }];
    const event = { id: name('evt'), created: made.at(-9), subscription: { id, customer, items } };
    await made.notify(event);
    return { id, customer, price, seat, event };
  }

  it('is listed with what is missing, a page at a time, and counted', async () => {
    const { id, customer, price, seat, event } = await waiting();
    const [newest] = await made.events({ status: 'unmatched', pageSize: 1 });
    expect(newest).toEqual({
      id: event.id,
      type: 'customer.subscription.updated',
      status: 'unmatched',
      reasons: ['subscription_not_linked', 'customer_not_known', 'price_not_mapped'],
      processorSubscriptionId: id,
      processorCustomerId: customer,
      items: [
        { priceId: price, quantity: 1 },
        { priceId: seat, quantity: 4 },
      ],
      missingPriceIds: [price, seat],
      occurredAt: new Date(event.created * 1000).toISOString(),
      receivedAt: new Date(NOW_MS).toISOString(),
    });
    expect(await made.events({ status: 'applied', processorSubscriptionId: id })).toEqual([]);
    const metrics = (await made.api.call('GET', '/metrics', { key: undefined })).text;
    expect(metrics).toMatch(/metergate_processor_events_total\{status="unmatched"\} \d+/);
  });

  it('is applied on request once it is mapped, and not again', async () => {
    const { id, customer, price, seat, event } = await waiting();
    expect(await made.apply(event.id)).toMatchObject({ status: 'unmatched' });
    expect(await made.linkedTo(id)).toEqual([]);
    await made.customer({ processorCustomerId: customer });
    const planId = await made.plan({ processorPriceIds: [price] });
    expect(await made.apply(event.id)).toMatchObject({ status: 'unmatched', missingPriceIds: [seat] });
    const [ours] = (await made.linkedTo(id)) as [{ id: string }];
    expect(ours).toMatchObject({ planId, addons: [] });
    const addonId = await made.addon({ processorPriceIds: [seat] });
    expect(await made.apply(event.id)).toMatchObject({ status: 'applied', subscriptionId: ours.id });
    const applied = await made.read(ours.id);
    expect(applied).toMatchObject({ addons: [{ addonId, quantity: 4 }] });
    await made.patch(ours.id, { status: 'paused' });
    expect(await made.apply(event.id)).toMatchObject({ status: 'applied' });
    await made.notify(event);
    expect(await made.read(ours.id)).toEqual({ ...applied, status: 'paused' });
    const unknown = await made.api.request('processor.applyEvent', {
      params: { processorEventId: 'evt_none' },
    });
    expectRejection(unknown, 'not_found', 'processorEventId');
  });

  it('is applied by itself once it is mapped, by a plan, an add-on or a customer', async () => {
    const { id, customer, price, seat } = await waiting();
    const [planId, addonId, customerId] = [await made.plan(), await made.addon(), await made.customer()];
    const processorCustomerId = customer;
    await made.api.request('customers.update', { params: { customerId }, body: { processorCustomerId } });
    await made.api.request('plans.update', { params: { planId }, body: { processorPriceIds: [price] } });
    await vi.waitFor(
      async () => expect(await made.linkedTo(id)).toMatchObject([{ planId, customerId }]),
      WAIT,
    );
    await made.api.request('addons.update', { params: { addonId }, body: { processorPriceIds: [seat] } });
    const addons = [{ addonId, quantity: 4 }];
    await vi.waitFor(async () => expect(await made.linkedTo(id)).toMatchObject([{ addons }]), WAIT);
    expect(await made.outcomes(id)).toEqual(['applied']);
  });

  it('does not keep the rest of a linked subscription from following', async () => {
    const [id, price] = [name('sub'), name('price')];
    const { id: ours, planId } = await made.subscribe({ processorSubscriptionId: id });
    const subscription = { id, status: 'past_due', items: [{ price }] };
    await made.notify({ created: made.at(-9), subscription });
    expect(await made.read(ours)).toMatchObject({ status: 'past_due', planId });
    await made.notify({ created: made.at(-8), subscription: { ...subscription, status: 'active' } });
    expect(await made.outcomes(id)).toEqual(['applied older', 'unmatched price_not_mapped']);
    const other = await made.plan({ processorPriceIds: [price] });
    await vi.waitFor(async () => expect(await made.read(ours)).toMatchObject({ planId: other }), WAIT);
    expect((await made.read(ours)).status).toBe('active');
  });

  it('is applied by linking while the plans of its prices change', async () => {
    const plans = [await priced(), await priced()];
    const give = async (planId: string, value: number) => {
      const body = { entitlements: [{ featureKey: 'seats', value }] };
      return made.api.request('plans.replaceEntitlements', { params: { planId }, body });
    };
    await made.api.request('features.create', { body: { key: 'seats', name: 'Seats', type: 'limit' } });
    for (let round = 1; round <= 5; round += 1) {
      const id = name('sub');
      for (const [at, { price }] of [...plans, ...plans].entries()) {
        await made.notify({ created: made.at(at - 9), subscription: { id, items: [{ price }] } });
      }
      const changes = plans.map(({ planId }) => give(planId, round));
      const [linked, ...changed] = await Promise.all([
        made.subscribe({ processorSubscriptionId: id }),
        ...changes,
      ]);
      expect(linked).toMatchObject({ planId: plans[1]?.planId });
      expect(changed.map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  it('applies to the cost of usage from the time of the processor on', async () => {
    const { request, pool } = made.api;
    await request('meters.create', { body: { key: 'calls', name: 'Calls', aggregation: 'sum' } });
    const feature = { key: 'calls', name: 'Calls', type: 'metered', meterKey: 'calls' };
    await request('features.create', { body: feature });
    const plans = [await priced(), await priced()] as const;
    for (const [at, { planId }] of plans.entries()) {
      const body = { entitlements: [{ featureKey: 'calls', value: 100 + at }] };
      await request('plans.replaceEntitlements', { params: { planId }, body });
    }
    const id = name('sub');
    const { customerId } = await made.subscribe({ planId: plans[0].planId, processorSubscriptionId: id });
    made.clock.ms += 3_600_000;
    const items = [{ price: plans[1].price }];
    await made.notify({ created: made.at(-600), subscription: { id, items } });
    const sql = 'SELECT starts_at AS at FROM metered_terms WHERE customer_id = $1 ORDER BY starts_at DESC';
    const { rows } = await pool.query<{ at: Date }>(sql, [customerId]);
    expect(rows[0]?.at).toEqual(new Date(made.at(-599) * 1000));
  });

  it('undoes nothing that was changed here meanwhile', async () => {
    const [id, price] = [name('sub'), name('price')];
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    const event = { id: name('evt'), created: made.at(-9), subscription: { id, items: [{ price }] } };
    await made.notify(event);
    const planId = await made.plan();
    await made.patch(ours, { planId });
    await made.plan({ processorPriceIds: [price] });
    expect(await made.apply(event.id)).toMatchObject({ status: 'applied', reasons: ['older'] });
    expect(await made.read(ours)).toMatchObject({ planId });
  });

  it('is bounded: the oldest are dropped, shown as given up, and may be sent again', async () => {
    const { id, event } = await waiting();
    const { environment } = made.api;
    const processorSubscriptionId = name('sub');
    const total = (await made.events({ status: 'unmatched' })).length;
    const bounds = { ...WAITING_BOUNDS, processorSubscriptionId };
    await giveUpEvents(made.api.pool, environment, { ...bounds, ofEnvironment: total });
    expect(await made.events({ status: 'unmatched' })).toHaveLength(total);
    await giveUpEvents(made.api.pool, environment, { ...bounds, bytesOfEnvironment: 1 });
    expect(await made.events({ status: 'unmatched' })).toEqual([]);
    expect(await made.outcomes(id)).toEqual(['ignored given_up']);
    await made.notify(event);
    expect(await made.outcomes(id)).toEqual([expect.stringMatching(/^unmatched/)]);
    const kept = await giveUpEvents(made.api.pool, environment, { ...bounds, ofEnvironment: 0 });
    expect(kept).toBe(1);
  });
});
