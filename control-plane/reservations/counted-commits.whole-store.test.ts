import { expect, it, vi } from 'vitest';
import { countedReservationsOfThisFile } from './counted-reservations-under-test.ts';

/*
 * Faults this suite catches: a commit that takes room forever as well as its usage; one that is forgotten
 * before every decision has its usage.
 */
const { made } = await countedReservationsOfThisFile();

it('a commit takes room until it is counted, and some time longer, and is forgotten then', async () => {
  const customerId = await made.customerWith({ calls: 10 });
  const { id } = await made.held(customerId, 6);
  expect((await made.commit(id, { value: 4 })).body).toMatchObject({ status: 'committed', value: 4 });
  const counted = async () => (await made.check(customerId, 'calls', { consistency: 'strong' })).current;
  expect(await counted()).toBe(4);
  expect(await made.ledger(customerId)).toMatchObject({ account: 4, open: 0 });
  const cached = async () => (await made.check(customerId, 'calls')).current;
  await vi.waitFor(async () => expect(await cached()).toBe(4), { timeout: 30_000, interval: 50 });
  // It is counted by now, and takes something besides: more than this would not fit.
  await made.held(customerId, 5);
  await vi.waitFor(async () => expect(await made.ledger(customerId)).toMatchObject({ account: 5 }), {
    timeout: 120_000,
    interval: 100,
  });
  expect((await made.hold(customerId, 2)).body).toMatchObject({ status: 'denied', decision: { current: 9 } });
  await made.held(customerId, 1);
}, 150_000);
