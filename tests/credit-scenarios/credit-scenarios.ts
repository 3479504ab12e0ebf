import { seenInTime } from '../support/in-time.ts';
import type { CreditWorld } from './credit-world.ts';

/** What happens to customers of one scenario. Rejects where something holds otherwise. */
export interface CreditScenario {
  title: string;
  run(world: CreditWorld): Promise<void>;
}

const HOUR_MS = 3_600_000;

function ago(ms: number): Date {
  return new Date(Date.now() - ms);
}

/** 900 of 1000 were used, with 5000 credits: nothing of it burns, whatever becomes of the limit. */
async function coveredUsage(world: CreditWorld, { value = 1000 }: { value?: number | null } = {}) {
  const meterId = await world.meter();
  const planId = await world.plan(meterId, value);
  const customerId = await world.customer(5000);
  const subscriptionId = await world.subscribe(customerId, planId);
  const own = { customerId, meterId };
  await world.use({ ...own, value: 900 });
  await world.current(own);
  await world.holds(customerId, 5000);
  return { own, planId, meterId, customerId, subscriptionId };
}

type Covered = Awaited<ReturnType<typeof coveredUsage>>;

/** The limit becomes 100, or none: 900 stay as they were, and each unit from then on is beyond it. */
async function burnsFromNowOn(world: CreditWorld, { own }: Pick<Covered, 'own'>): Promise<void> {
  await world.use({ ...own, value: 50 });
  await world.holds(own.customerId, 4950);
  await world.settles(own, 4949);
}

async function ended(world: CreditWorld, subscriptionId: string): Promise<void> {
  const look = async () => {
    const { status } = await world.change('GET', `/subscriptions/${subscriptionId}`);
    return status === 'canceled' || undefined;
  };
  await seenInTime(look, { timeoutMs: 60_000, everyMs: 100 }, `the end of ${subscriptionId}`);
}

const LIMITS_THAT_END: CreditScenario[] = [
  {
    title: 'a cancellation leaves what was covered as it was',
    async run(world) {
      const { own, subscriptionId } = await coveredUsage(world);
      await world.change('POST', `/subscriptions/${subscriptionId}/cancel`, { at: 'now' });
      await world.settles(own, 4999);
    },
  },
  {
    title: 'so does a cancelAt that the clock has reached',
    async run(world) {
      const { own, subscriptionId } = await coveredUsage(world);
      const cancelAt = new Date(Date.now() + 1_500).toISOString();
      await world.change('PATCH', `/subscriptions/${subscriptionId}`, { cancelAt });
      await ended(world, subscriptionId);
      await world.settles(own, 4999);
    },
  },
  {
    title: 'so does an end that the processor reports, in whole seconds',
    async run(world) {
      const meterId = await world.meter();
      const customerId = await world.customer(5000);
      const theirs = 'sub_that_is_deleted';
      const processorSubscriptionId = theirs;
      const planId = await world.plan(meterId, 1000);
      const id = await world.subscribe(customerId, planId, { processorSubscriptionId });
      const own = { customerId, meterId };
      // Within the second in which the processor says that it ended.
      const usedMs = Date.now();
      await world.use({ ...own, value: 900, occurredAt: new Date(usedMs) });
      await world.current(own);
      const ended_at = Math.floor(usedMs / 1000);
      await world.processorSays('deleted', { id: theirs, status: 'canceled', ended_at });
      await ended(world, id);
      await world.settles(own, 4999);
    },
  },
  {
    title: 'an unlimited plan covers what was used while it held',
    async run(world) {
      const { own, subscriptionId } = await coveredUsage(world, { value: null });
      await world.change('POST', `/subscriptions/${subscriptionId}/cancel`, { at: 'now' });
      await world.settles(own, 4999);
    },
  },
  {
    title: 'a plan that becomes unlimited leaves what has burned, and covers what comes',
    async run(world) {
      const { own, meterId, customerId, subscriptionId } = await coveredUsage(world);
      await world.use({ ...own, value: 300 });
      await world.holds(customerId, 4800);
      const planId = await world.plan(meterId, null);
      await world.change('PATCH', `/subscriptions/${subscriptionId}`, { planId });
      await world.use({ ...own, value: 7000 });
      await world.current(own);
      await world.change('POST', `/subscriptions/${subscriptionId}/cancel`, { at: 'now' });
      await world.settles(own, 4799);
    },
  },
  {
    title: 'customers of one batch do not change what each other burns, with credits or without',
    async run(world) {
      const meterId = await world.meter();
      const planId = await world.plan(meterId, 1000);
      const customers = await Promise.all([5000, undefined, 5000, undefined].map(world.customer));
      const ids = await Promise.all(customers.map((id) => world.subscribe(id, planId)));
      const all = (value: number) => customers.map((customerId) => ({ customerId, meterId, value }));
      await world.use(...all(900));
      await world.current({ customerId: customers[0] ?? '', meterId });
      // The first two end, the others go on.
      for (const id of ids.slice(0, 2)) {
        await world.change('POST', `/subscriptions/${id}/cancel`, { at: 'now' });
      }
      await world.use(...all(7));
      const [first = '', second = '', third = '', fourth = ''] = customers;
      await world.holds(first, 4993);
      await world.holds(second, 0, 7);
      await world.use(...all(93), ...all(20));
      await world.holds(first, 4880);
      await world.holds(second, 0, 120);
      await world.holds(third, 4980);
      await world.holds(fourth, 0, 20);
      await world.grant(second, 150);
      await world.holds(second, 30);
      await world.settles({ customerId: second, meterId }, 29);
    },
  },
];

const LIMITS_THAT_CHANGE: CreditScenario[] = [
  {
    title: 'a change to a plan with less burns only what occurs from then on',
    async run(world) {
      const covered = await coveredUsage(world);
      const planId = await world.plan(covered.meterId, 100);
      await world.change('PATCH', `/subscriptions/${covered.subscriptionId}`, { planId });
      await burnsFromNowOn(world, covered);
    },
  },
  {
    title: 'so does a published plan that is edited for all its subscribers',
    async run(world) {
      const covered = await coveredUsage(world);
      const { meterId, planId } = covered;
      const others = await Promise.all([5000, 5000, 5000].map(world.customer));
      for (const customerId of others) await world.subscribe(customerId, planId);
      await world.use(...others.map((customerId) => ({ customerId, meterId, value: 900 })));
      await world.current(covered.own);
      await world.editPlan(planId, meterId, 100);
      const owns = [covered.own, ...others.map((customerId) => ({ customerId, meterId }))];
      await Promise.all(owns.map((own) => burnsFromNowOn(world, { own })));
    },
  },
  {
    title: 'so does a feature that is taken out of the plan',
    async run(world) {
      const covered = await coveredUsage(world);
      await world.editPlan(covered.planId, covered.meterId);
      await burnsFromNowOn(world, covered);
    },
  },
  {
    title: 'so does an add-on that is removed',
    async run(world) {
      const meterId = await world.meter();
      const customerId = await world.customer(5000);
      const addonId = await world.addon(meterId, 450);
      const addons = [{ addonId, quantity: 2 }];
      const id = await world.subscribe(customerId, await world.plan(meterId, 100), { addons });
      const own = { customerId, meterId };
      await world.use({ ...own, value: 900 });
      await world.current(own);
      await world.holds(customerId, 5000);
      await world.change('DELETE', `/subscriptions/${id}/addons/${addonId}`);
      await burnsFromNowOn(world, { own });
    },
  },
  {
    title: 'so does an override that has expired',
    async run(world) {
      const meterId = await world.meter();
      const customerId = await world.customer(5000);
      await world.subscribe(customerId, await world.plan(meterId, 100));
      const path = `/customers/${customerId}/overrides/${meterId}`;
      const expiresMs = Date.now() + 5_000;
      await world.change('PUT', path, { value: 1000, expiresAt: new Date(expiresMs).toISOString() });
      const own = { customerId, meterId };
      // In time, however busy the machine is.
      await world.use({ ...own, value: 900, occurredAt: new Date(Math.min(Date.now(), expiresMs - 1)) });
      await world.current(own);
      await world.hasLimit(customerId, meterId, 100);
      await burnsFromNowOn(world, { own });
    },
  },
  {
    title: 'a limit that is raised leaves what has burned, and covers what comes up to it',
    async run(world) {
      const { own, meterId, customerId, subscriptionId } = await coveredUsage(world);
      await world.use({ ...own, value: 300 });
      await world.holds(customerId, 4800);
      const planId = await world.plan(meterId, 2000);
      await world.change('PATCH', `/subscriptions/${subscriptionId}`, { planId });
      await world.use({ ...own, value: 300 });
      await world.current(own);
      await world.use({ ...own, value: 600 });
      await world.holds(customerId, 4700);
      await world.settles(own, 4699);
    },
  },
  {
    title: 'usage that comes late falls under the limit of its time',
    async run(world) {
      const meterId = await world.meter();
      const customerId = await world.customer(5000);
      const currentPeriodStart = ago(HOUR_MS).toISOString();
      const id = await world.subscribe(customerId, await world.plan(meterId, 1000), { currentPeriodStart });
      const own = { customerId, meterId };
      const planId = await world.plan(meterId, 100);
      const late = ago(1);
      await world.change('PATCH', `/subscriptions/${id}`, { planId });
      await world.use({ ...own, value: 50 });
      await world.holds(customerId, 5000);
      await world.use({ ...own, value: 900, occurredAt: late });
      await world.holds(customerId, 4950);
      await world.use({ ...own, value: 200, occurredAt: ago(HOUR_MS / 2) });
      await world.holds(customerId, 4850);
      await world.settles(own, 4849);
    },
  },
];

export const CREDIT_SCENARIOS: readonly CreditScenario[] = [...LIMITS_THAT_END, ...LIMITS_THAT_CHANGE];
