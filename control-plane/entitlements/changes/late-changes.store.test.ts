import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { PROCESSOR_GRACE_MS } from '../../clock/processor-grace.ts';
import { processorOfThisFile } from '../../processor/processor-under-test.ts';
import type { ReportedSubscription } from '../../processor/stripe-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { CHANGE_NOTIFIER } from './change-notifier.ts';
import { fanoutJobs, termsOf } from './changes-under-test.ts';

/*
 * A change that is reported later than it took effect, by the processor or by a clock, over HTTP and a real
 * Postgres: what was recorded for a meter since then stays as it was recorded.
 *
 * Mutants this suite catches: the reported time of the change used as it is (record-metered-terms.ts),
 * changes that wait for the change notifier left out of that, or an event that waited treated as one that was
 * applied on arrival (apply-event.ts).
 */
const WAIT = { timeout: 30_000, interval: 20 };
const HOUR_MS = 3_600_000;

const made = await processorOfThisFile();
const held = customerGrantsUnderTest(made.api);
await held.meteredFeature('calls');

const fanouts = () => fanoutJobs(made.api.pool);

let named = 0;
let theirs: string;
let startMs: number;

beforeEach(() => {
  named += 1;
  theirs = `sub_1Theirs${named}`;
  startMs = pass(10_000);
});

describe('an event of the processor that comes late', () => {
  it('leaves what an override covered while it was there', async () => {
    const { customerId, atMs } = await customerWith();
    await held.override(customerId, 'calls', { value: 1_000 });
    pass(10_000);
    await made.api.request('overrides.delete', { params: { customerId, featureKey: 'calls' } });
    await overdueSince(atMs);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '1000', 25: '100' });
  });

  it('leaves what was beyond the limit before an override raised it', async () => {
    const { customerId, atMs } = await customerWith();
    await held.override(customerId, 'calls', { value: 1_000 });
    await overdueSince(atMs);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '1000' });
  });

  it('leaves what an override that has expired covered', async () => {
    const { customerId, atMs } = await customerWith();
    await held.override(customerId, 'calls', {
      value: 1_000,
      expiresAt: new Date(startMs + 20_000).toISOString(),
    });
    pass(10_000);
    await overdueSince(atMs);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '1000', 20: '100' });
  });

  it('leaves what a plan covered before it gave less', async () => {
    const { customerId, planId, atMs } = await customerWith();
    await held.giveInstead(planId, { calls: 10 });
    await expect.poll(fanouts, WAIT).toBe(0);
    await overdueSince(atMs);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '10' });
  });

  it('and before the notifier has reached the customer, leaves it as well', async () => {
    const { customerId, planId, atMs } = await customerWith();
    await whileNotifierWaits(async () => {
      await held.giveInstead(planId, { calls: 10 });
      pass(5_000);
      await overdueSince(atMs);
      expect(await fanouts()).toBe(1);
    });
    await expect.poll(fanouts, WAIT).toBe(0);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '10' });
  });

  it('and of an add-on it leaves the same', async () => {
    const addonId = await held.addon(`more-${named}`, { calls: 7 });
    const addons = [{ addonId, quantity: 1 }];
    const { customerId, atMs } = await customerWith({ processorSubscriptionId: theirs, addons });
    await whileNotifierWaits(async () => {
      const body = { entitlements: [{ featureKey: 'calls', value: 1 }] };
      await made.api.request('addons.replaceEntitlements', { params: { addonId }, body });
      await overdueSince(atMs);
    });
    await expect.poll(fanouts, WAIT).toBe(0);
    expect(await limits(customerId)).toEqual({ 0: '107', 15: '101' });
  });

  it('leaves what another subscription covered until it was canceled', async () => {
    const { customerId, atMs } = await customerWith();
    const second = await held.subscribe(customerId, { calls: 1_000 });
    pass(10_000);
    await made.cancel(second);
    await overdueSince(atMs);
    expect(await limits(customerId)).toEqual({ 0: '100', 15: '1100', 25: '100' });
  });

  it('applies from its own time on if nothing was recorded since', async () => {
    const { customerId, atMs } = await customerWith();
    await notified(atMs, { status: 'canceled', endedAt: atMs / 1000 });
    expect(await limits(customerId)).toEqual({ 0: '100', 6: '' });
  });
});

describe('a clock that comes late', () => {
  it('cancels from the end of the subscription on, where nothing was recorded since', async () => {
    const { customerId, endMs } = await ending();
    pass(PROCESSOR_GRACE_MS);
    await expect.poll(statusOf, WAIT).toBe('canceled');
    expect(await limits(customerId)).toEqual({ 0: '100', [(endMs - startMs) / 1000]: '' });
  });

  it('cancels from the last change on, where one was recorded since', async () => {
    const { customerId, endMs } = await ending();
    const putMs = pass(HOUR_MS);
    await held.override(customerId, 'calls', { value: 1_000 });
    const deletedMs = pass(HOUR_MS);
    await made.api.request('overrides.delete', { params: { customerId, featureKey: 'calls' } });
    pass(PROCESSOR_GRACE_MS);
    await expect.poll(statusOf, WAIT).toBe('canceled');
    const [put, deleted] = [(putMs - startMs) / 1000, (deletedMs - startMs) / 1000];
    expect(await limits(customerId)).toEqual({ 0: '100', [put]: '1000', [deleted]: '' });
    expect((await made.linkedTo(theirs))[0]).toMatchObject({ canceledAt: new Date(endMs).toISOString() });
  });

  async function ending() {
    const { customerId, atMs } = await customerWith();
    const endMs = Math.ceil((atMs + 2 * HOUR_MS) / 1000) * 1000;
    await notified(atMs, { cancelAt: endMs / 1000 });
    pass(endMs - made.clock.ms);
    return { customerId, endMs };
  }

  const statusOf = async () => (await made.linkedTo(theirs))[0]?.status;
});

describe('an event of the processor that waited', () => {
  it('for its price applies from when it is processed on', async () => {
    const { customerId, atMs } = await customerWith();
    const price = `price_1Late${named}`;
    await notified(atMs, { items: [{ price }] });
    expect(await limits(customerId)).toEqual({ 0: '100' });
    pass(60_000);
    const other = await held.plan({ calls: 10 });
    await made.api.request('plans.update', {
      params: { planId: other },
      body: { processorPriceIds: [price] },
    });
    const planNow = async () => (await made.linkedTo(theirs))[0]?.planId;
    await expect.poll(planNow, WAIT).toBe(other);
    expect(await limits(customerId)).toEqual({ 0: '100', 75: '10' });
  });

  it('for its link applies from the link on, and is dated as before', async () => {
    const { customerId, id, atMs } = await customerWith({});
    await notified(atMs, { status: 'canceled', endedAt: atMs / 1000 });
    pass(60_000);
    const linked = await made.patch(id, { processorSubscriptionId: theirs });
    expect(linked).toMatchObject({ status: 'canceled', canceledAt: new Date(atMs).toISOString() });
    expect(await limits(customerId)).toEqual({ 0: '100', 75: '' });
  });
});

/** Returns the time after it. */
function pass(ms: number): number {
  made.clock.ms += ms;
  return made.clock.ms;
}

/** Since `startMs`: the processor changes something 5 s later, and now is 15 s later. */
async function customerWith(fields: object = { processorSubscriptionId: theirs }) {
  const [customerId, planId] = [await held.customer(), await held.plan({ calls: 100 })];
  const id = await held.subscribe(customerId, {}, { planId, ...fields });
  pass(15_000);
  return { customerId, planId, id, atMs: startMs + 5_000 };
}

function notified(atMs: number, subscription: Omit<ReportedSubscription, 'id'>) {
  const period: [number, number] = [startMs / 1000, startMs / 1000 + 30 * 86_400];
  return made.notify({
    created: atMs / 1000,
    subscription: { id: theirs, items: [], period, ...subscription },
  });
}

async function overdueSince(atMs: number): Promise<void> {
  pass(5_000);
  await notified(atMs, { status: 'past_due' });
  expect((await made.linkedTo(theirs))[0]?.status).toBe('past_due');
}

/** In a transaction that blocks the change notifier, in whichever process it runs. */
function whileNotifierWaits(todo: () => Promise<void>): Promise<void> {
  return inTransaction(made.api.pool, async (db) => {
    await db.query('SELECT FROM job_leases WHERE job = $1 FOR UPDATE', [CHANGE_NOTIFIER.job]);
    await todo();
  });
}

/** The terms recorded until now: the limits, by the seconds since `startMs` from which on they apply. */
async function limits(customerId: string): Promise<Record<number, string>> {
  const terms = await termsOf(made.api.pool, customerId, 'calls');
  const begun = terms.filter(({ at }) => at <= made.clock.ms);
  return Object.fromEntries(begun.map(({ at, limits }) => [(at - startMs) / 1000, limits.join()]));
}
