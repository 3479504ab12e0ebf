import { describe, expect, it } from 'vitest';
import { endGrant } from '../../domain/credits/end-grant.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';
import { credits, DAY_MS, recurringUnderTest, START_MS } from './recurring-under-test.ts';

/*
 * Credits that plans grant, over a real Postgres, at times that the test sets. `grants` shows each as: key
 * and part, start and end of its period, amount, what is left, what lapsed.
 */
const world = await recurringUnderTest();
const [monthly, larger] = [await world.plan([credits()]), await world.plan([credits({ amount: '250' })])];

/** A customer with a subscription from the start on. */
async function subscribed(body: object = {}) {
  const customerId = await world.customer();
  const row = await world.subscribe({ customerId, planId: monthly, ...body });
  return { customerId, id: row.id, grants: () => world.grants(customerId) };
}

const dayAt = (days: number) => START_MS + days * DAY_MS;
const iso = (days: number) => new Date(dayAt(days)).toISOString();

it('are granted with the subscription and with each period, once, and expire with it', async () => {
  const { customerId, grants } = await subscribed();
  expect(await grants()).toEqual(['included1 01-31 02-28 100 100 0']);
  await world.burn(customerId, '30', dayAt(1));
  await world.pass(dayAt(28) - 1);
  expect(await grants()).toEqual(['included1 01-31 02-28 100 70 0']);
  await world.pass(dayAt(28));
  await world.pass(dayAt(28.5));
  expect(await grants()).toEqual(['included1 01-31 02-28 100 0 70', 'included1 02-28 03-31 100 100 0']);
  const { rows } = await world.pool.query<{ id: string }>(
    'SELECT id FROM credit_grants WHERE customer_id = $1 ORDER BY period_start',
    [customerId],
  );
  const [{ id: first = '' } = {}, { id: second = '' } = {}] = rows;
  const data = { customerId, amount: 100, reason: expect.stringMatching(/^Included in Plan /) };
  expect(await emittedEvents(world.pool, first)).toEqual([{ type: 'credit.granted', data }]);
  const entry = { actor: 'clock', action: 'credits.grantRecurring', before: null };
  expect(await auditEntries(world.pool, second)).toMatchObject([{ ...entry, after: { remaining: 100 } }]);
});

it('are made up for after a downtime, each period once', async () => {
  const { grants } = await subscribed();
  const never = await subscribed({ planId: await world.plan([credits({ expires: 'never' })]) });
  await world.pass(dayAt(100));
  expect(await grants()).toEqual([
    'included1 01-31 02-28 100 0 100',
    'included1 02-28 03-31 100 0 100',
    'included1 03-31 04-30 100 0 100',
    'included1 04-30 05-31 100 100 0',
  ]);
  await world.pass(dayAt(101));
  expect(await never.grants()).toHaveLength(4);
  expect(await world.wallet(never.customerId)).toBe('400 0');
});

// Red when the periods before a cancellation are made up for as if there were none.
it('are made up for to the cancellation, and not after it, when the clock notices it late', async () => {
  const { id, grants } = await subscribed();
  await world.patch(id, { cancelAt: iso(40) }, dayAt(5));
  await world.pass(dayAt(100));
  expect(await grants()).toEqual(['included1 01-31 02-28 100 0 100', 'included1 02-28 03-31 100 0 100']);
});

it('of a month come within a longer period, and not after its end', async () => {
  const planId = await world.plan([credits({ every: 'month' })]);
  const { id, grants } = await subscribed({ planId, interval: 'year' });
  await world.pass(dayAt(40));
  await world.patch(id, { cancelAt: iso(75) }, dayAt(41));
  await world.pass(dayAt(80));
  await world.pass(dayAt(120));
  expect(await grants()).toEqual([
    'included1 01-31 02-28 100 0 100',
    'included1 02-28 03-31 100 0 100',
    'included1 03-31 04-30 100 100 0',
  ]);
});

it('begin with the subscription that begins later, and with the paid period after a trial', async () => {
  const ahead = await subscribed({ currentPeriodStart: iso(3), currentPeriodEnd: iso(10), interval: 'week' });
  const trial = await subscribed({ trialEnd: iso(14) });
  expect(await ahead.grants()).toEqual([]);
  expect(await trial.grants()).toEqual(['included1 01-31 02-14 100 100 0']);
  await world.pass(dayAt(14));
  expect(await ahead.grants()).toEqual([
    'included1 02-03 02-10 100 0 100',
    'included1 02-10 02-17 100 100 0',
  ]);
  expect(await trial.grants()).toEqual([
    'included1 01-31 02-14 100 0 100',
    'included1 02-14 03-14 100 100 0',
  ]);
});

it('are not granted while payment is overdue, and in the period in which it is made', async () => {
  const { id, grants } = await subscribed();
  await world.patch(id, { status: 'past_due' }, dayAt(20));
  await world.pass(dayAt(28));
  expect(await grants()).toEqual(['included1 01-31 02-28 100 100 0']);
  await world.patch(id, { status: 'active' }, dayAt(30));
  expect(await grants()).toEqual(['included1 01-31 02-28 100 0 100', 'included1 02-28 03-31 100 100 0']);
});

// Red when only what was charged is looked at: an overdue period is charged, and is not granted.
it('of an overdue period are not made up for when the clock finds it after the payment', async () => {
  const { id, grants } = await subscribed({ interval: 'week' });
  await world.patch(id, { status: 'past_due' }, dayAt(5));
  await world.patch(id, { status: 'active' }, dayAt(16));
  const paid = ['included1 01-31 02-07 100 0 100', 'included1 02-14 02-21 100 100 0'];
  expect(await grants()).toEqual(paid);
  await world.pass(dayAt(17));
  expect(await grants()).toEqual(paid);
});

it('of another plan are added up to its larger amount, and a smaller one takes nothing back', async () => {
  const { id, grants, customerId } = await subscribed();
  await world.burn(customerId, '30', dayAt(1));
  for (const planId of [larger, monthly, larger]) await world.patch(id, { planId }, dayAt(5));
  expect(await grants()).toEqual(['included1 01-31 02-28 100 70 0', 'included2 01-31 02-28 150 150 0']);
  const other = await world.plan([credits({ key: 'bonus', amount: '7' })]);
  await world.patch(id, { planId: other, at: 'period_end' }, dayAt(6));
  await world.pass(dayAt(28));
  expect((await grants()).slice(2)).toEqual(['bonus1 02-28 03-31 7 7 0']);
});

// Red when what held before the second change is taken to have held since an earlier time.
it('of a plan that held for no time are those of its period alone, also when the clock is late', async () => {
  const { id, grants } = await subscribed({ interval: 'week' });
  await world.patch(id, { planId: await world.plan([]) }, dayAt(3));
  for (const planId of [monthly, larger]) await world.patch(id, { planId }, dayAt(15));
  const running = ['included1 02-14 02-21 100 100 0', 'included2 02-14 02-21 150 150 0'];
  expect(await grants()).toEqual(['included1 01-31 02-07 100 0 100', ...running]);
});

it('expire with their period when that ends earlier or later than it was to', async () => {
  const { id, grants } = await subscribed();
  await world.patch(id, { currentPeriodEnd: iso(40) }, dayAt(5));
  expect(await grants()).toEqual(['included1 01-31 03-12 100 100 0']);
  await world.patch(id, { currentPeriodStart: iso(10), currentPeriodEnd: iso(38) }, dayAt(10));
  expect(await grants()).toEqual(['included1 01-31 02-10 100 0 100', 'included1 02-10 03-10 100 100 0']);
});

// Red when the expiry follows the period all the same.
it('keep an expiry that was set by hand, whatever becomes of their period', async () => {
  const { customerId, id, grants } = await subscribed();
  const { rows } = await world.pool.query<{ id: string }>(
    'SELECT id FROM credit_grants WHERE customer_id = $1',
    [customerId],
  );
  const [{ id: grantId = '' } = {}] = rows;
  const expiresAt = new Date(dayAt(10));
  await inTransaction(world.pool, (db) =>
    endGrant(
      db,
      { environment: world.environment, customerId },
      {
        ...{ grantId, now: new Date(dayAt(1)), expiresAt: () => expiresAt },
      },
    ),
  );
  await world.patch(id, { currentPeriodEnd: iso(40) }, dayAt(5));
  expect(await grants()).toEqual(['included1 01-31 02-10 100 100 0']);
});

// Red when each month ends what was granted before it, of whatever rhythm.
it('of a whole period stay when a plan, or a change of it, grants the same key by the month', async () => {
  const planId = await world.plan([credits({ amount: '1200' })]);
  const byMonth = credits({ every: 'month', rollover: { percent: '100' } });
  const [changed, edited] = [
    await subscribed({ planId, interval: 'year' }),
    await subscribed({ planId, interval: 'year' }),
  ];
  await world.patch(changed.id, { planId: await world.plan([byMonth]) }, dayAt(75));
  expect(await changed.grants()).toEqual([
    'included1 01-31 01-31 1200 1200 0',
    'included1 03-31 04-30 100 100 0',
  ]);
  const soon = await subscribed({ planId, interval: 'year' });
  await world.patch(soon.id, { planId: await world.plan([byMonth]) }, dayAt(5));
  expect(await soon.grants()).toEqual(['included1 01-31 01-31 1200 1200 0']);
  await world.edit(planId, [byMonth], dayAt(75));
  await world.pass(dayAt(90));
  for (const { customerId } of [changed, edited]) await world.burn(customerId, '10', dayAt(91));
  await world.pass(dayAt(121));
  expect((await changed.grants()).slice(2)).toEqual([
    'included0 04-30 05-31 100 0 90',
    'included1 04-30 05-31 100 0 100',
    'included0 05-31 06-30 190 190 0',
    'included1 05-31 06-30 100 100 0',
  ]);
  expect(await edited.grants()).toEqual([
    'included1 01-31 01-31 1200 1200 0',
    'included1 04-30 05-31 100 0 90',
    'included0 05-31 06-30 90 90 0',
    'included1 05-31 06-30 100 100 0',
  ]);
});

it('pay what is unpaid first', async () => {
  const { customerId } = await subscribed();
  await world.burn(customerId, '130', dayAt(1));
  await world.pass(dayAt(28));
  expect(await world.wallet(customerId)).toBe('70 0');
});

describe('what is rolled over', () => {
  const half = (max?: string) => world.plan([credits({ rollover: { percent: '50', max } })]);

  it('is a share of all that is left at the end of a period, and expires with the next one', async () => {
    const { customerId, grants } = await subscribed({ planId: await half() });
    await world.burn(customerId, '40', dayAt(1));
    await world.pass(dayAt(28));
    await world.burn(customerId, '10', dayAt(30));
    await world.pass(dayAt(59));
    expect(await grants()).toEqual([
      'included1 01-31 02-28 100 0 60',
      'included0 02-28 03-31 30 0 20',
      'included1 02-28 03-31 100 0 100',
      'included0 03-31 04-30 60 60 0',
      'included1 03-31 04-30 100 100 0',
    ]);
    expect(await world.wallet(customerId)).toBe('160 0');
  });

  it('is at most the maximum, and of each period that was missed', async () => {
    const { grants } = await subscribed({ planId: await half('70') });
    await world.pass(dayAt(88));
    expect((await grants()).filter((text) => text.startsWith('included0'))).toEqual([
      'included0 02-28 03-31 50 0 50',
      'included0 03-31 04-30 70 70 0',
    ]);
  });

  it('is the same whether late usage or the roll comes first', async () => {
    const planId = await half();
    const [one, other] = [await subscribed({ planId }), await subscribed({ planId })];
    await world.burn(one.customerId, '120', dayAt(28.1));
    await world.pass(dayAt(28.1));
    await world.burn(other.customerId, '120', dayAt(28.1));
    expect(await one.grants()).toEqual([
      'included1 01-31 02-28 100 0 100',
      'included0 02-28 03-31 50 0 0',
      'included1 02-28 03-31 100 30 0',
    ]);
    expect([await world.wallet(one.customerId), await world.wallet(other.customerId)]).toEqual([
      '30 0',
      '30 0',
    ]);
  });

  it('comes when an overdue payment is made, by the plan that grants the next period', async () => {
    const { id, grants } = await subscribed({ planId: await half() });
    await world.patch(id, { status: 'past_due' }, dayAt(20));
    await world.pass(dayAt(28));
    await world.patch(id, { status: 'active' }, dayAt(33));
    expect((await grants())[1]).toBe('included0 02-28 03-31 50 50 0');
    await world.patch(id, { planId: monthly, at: 'period_end' }, dayAt(34));
    await world.pass(dayAt(59));
    expect((await grants()).slice(3)).toEqual(['included1 03-31 04-30 100 100 0']);
  });
});
