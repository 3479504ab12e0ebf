import { expect, it, vi } from 'vitest';
import { clockUnderTest, daysLater } from './clock-under-test.ts';

const WAIT = { timeout: 30_000, interval: 20 };

/*
 * Red when the grace is left out of a statement or of the rule, when a cancellation requested through the API
 * gets it too, or when a subscription with a test clock is moved by ours.
 */
it('the clock leaves changes that the processor reports to the processor, for three days', async () => {
  const { add, clock, run, row } = await clockUnderTest();
  const linked = (name: string) => ({ processorSubscriptionId: name, processorCancelAt: daysLater(2) });
  const trial = { status: 'trialing', trialEnd: daysLater(1) } as const;
  const ids = {
    trial: await add({ ...linked('trial'), ...trial }),
    cancel: await add({ ...linked('cancel'), cancelAt: daysLater(2) }),
    canceledHere: await add({ ...linked('here'), cancelAt: daysLater(1) }),
    simulated: await add({ ...linked('clock'), ...trial, cancelAt: daysLater(2), processorSimulated: true }),
  };
  const statuses = async () => {
    const rows = await Promise.all(Object.values(ids).map(row));
    return rows.map(({ status }) => status);
  };
  clock.now = daysLater(3);
  run();
  await vi.waitFor(async () => expect((await row(ids.canceledHere)).status).toBe('canceled'), WAIT);
  expect(await statuses()).toEqual(['trialing', 'active', 'canceled', 'trialing']);
  clock.now = daysLater(5);
  await vi.waitFor(async () => expect((await row(ids.cancel)).status).toBe('canceled'), WAIT);
  await vi.waitFor(async () => expect((await row(ids.trial)).status).toBe('active'), WAIT);
  expect(await statuses()).toEqual(['active', 'canceled', 'canceled', 'trialing']);
  const [canceled, active] = [await row(ids.cancel), await row(ids.trial)];
  expect([canceled.canceledAt, active.statusSince]).toEqual([daysLater(2), daysLater(1)]);
});
