import type { CreditScenario } from './credit-scenarios.ts';
import type { CreditWorld } from './credit-world.ts';

/** A customer without a plan, whose usage costs 1 each. */
async function payer(world: CreditWorld, granted: number) {
  const [meterId, customerId] = await Promise.all([world.meter(), world.customer(granted)]);
  return { meterId, customerId };
}

const CORRECTIONS: CreditScenario[] = [
  {
    title: '+50 and -50 in one batch leave 100 of 100',
    async run(world) {
      const own = await payer(world, 100);
      await world.use({ ...own, value: 50 }, { ...own, value: -50 });
      await world.settles(own, 99);
    },
  },
  {
    title: '+50 and -50 that are settled one after the other leave 100 of 100',
    async run(world) {
      const own = await payer(world, 100);
      await world.use({ ...own, value: 50 });
      await world.holds(own.customerId, 50);
      await world.use({ ...own, value: -50 });
      await world.holds(own.customerId, 100);
      await world.settles(own, 99);
    },
  },
  {
    title: '+50 and -50 that occurred 1.5 s apart leave 100 of 100, in either order',
    async run(world) {
      for (const isCorrectionFirst of [false, true]) {
        const own = await payer(world, 100);
        const used = { ...own, value: 50, occurredAt: new Date(Date.now() - 2_000) };
        const corrected = { ...own, value: -50, occurredAt: new Date(Date.now() - 500) };
        await world.use(isCorrectionFirst ? corrected : used);
        await world.holds(own.customerId, isCorrectionFirst ? 100 : 50);
        await world.use(isCorrectionFirst ? used : corrected);
        await world.settles(own, 99);
      }
    },
  },
  {
    title: '+150, -150 and a grant of 60 leave 160 of 160',
    async run(world) {
      const own = await payer(world, 100);
      await world.use({ ...own, value: 150 });
      await world.holds(own.customerId, 0, 50);
      await world.use({ ...own, value: -150 });
      await world.holds(own.customerId, 100);
      await world.grant(own.customerId, 60);
      await world.holds(own.customerId, 160);
      await world.settles(own, 159);
    },
  },
  {
    title: 'so they do where the grant pays before the correction comes, and in one batch',
    async run(world) {
      const [apart, together] = [await payer(world, 100), await payer(world, 100)];
      await world.use({ ...apart, value: 150 });
      await world.holds(apart.customerId, 0, 50);
      await world.grant(apart.customerId, 60);
      await world.holds(apart.customerId, 10);
      await world.use({ ...apart, value: -150 });
      await world.holds(apart.customerId, 160);
      await world.settles(apart, 159);
      await world.use({ ...together, value: 150 }, { ...together, value: -150 });
      await world.grant(together.customerId, 60);
      await world.settles(together, 159);
    },
  },
  {
    title: 'a correction gives back what went beyond the limit before what was covered',
    async run(world) {
      const own = await payer(world, 100);
      await world.subscribe(own.customerId, await world.plan(own.meterId, 10));
      await world.use({ ...own, value: 40 });
      await world.holds(own.customerId, 70);
      await world.use({ ...own, value: -20 });
      await world.holds(own.customerId, 90);
      await world.use({ ...own, value: -15 });
      await world.holds(own.customerId, 100);
      await world.use({ ...own, value: 5 });
      await world.settles(own, 99);
    },
  },
];

const PERIOD = { hours: 3_600_000, days: 86_400_000 };

const PAST_PERIODS: CreditScenario[] = [
  {
    title: '?at= reads periods as they were recorded, whatever the cycle became',
    async run(world) {
      const { own, id, at, started } = await usedBeforeAndIn(world);
      const changed = await moved(world, id);
      const [now = new Date()] = await world.use({ ...own, value: 7 });
      await expectUsage(world, own, [
        [at.before, 20],
        [at.within, 1500],
        [started, 1500],
        [new Date(started.getTime() - 1), 20],
        [now, 7],
      ]);
      await moved(world, id);
      const [last = new Date()] = await world.use({ ...own, value: 3 });
      await expectUsage(world, own, [
        [at.before, 20],
        [at.within, 1500],
        [changed, 7],
        [now, 7],
        [last, 3],
      ]);
    },
  },
  {
    title: '?at= reads the period of a subscription that was canceled, and of the one after it',
    async run(world) {
      const { own, id, at, planId } = await usedBeforeAndIn(world, 100);
      const { canceledAt } = await world.change('POST', `/subscriptions/${id}/cancel`, { at: 'now' });
      await world.subscribe(own.customerId, planId);
      const [now = new Date()] = await world.use({ ...own, value: 7 });
      await expectUsage(world, own, [
        [at.before, 20],
        [at.within, 100],
        [new Date(Date.parse(String(canceledAt)) - 1), 100],
        [now, 7],
      ]);
    },
  },
];

/** 20 before the first subscription, and 1500 in it. */
async function usedBeforeAndIn(world: CreditWorld, value = 1500) {
  const own = await payer(world, 10_000);
  const planId = await world.plan(own.meterId, 5_000);
  const ago = (ms: number) => new Date(Date.now() - ms);
  const started = ago(PERIOD.hours);
  const fields = { currentPeriodStart: started.toISOString() };
  const id = await world.subscribe(own.customerId, planId, fields);
  const at = { before: new Date(started.getTime() - 1_000), within: ago(PERIOD.hours / 2) };
  await world.use({ ...own, value: 20, occurredAt: at.before });
  await world.use({ ...own, value, occurredAt: at.within });
  return { own, id, planId, started, at };
}

/** Its billing cycle starts again, now. */
async function moved(world: CreditWorld, id: string): Promise<Date> {
  const startMs = Date.now();
  const [currentPeriodStart, currentPeriodEnd] = [startMs, startMs + 5 * PERIOD.days].map((ms) =>
    new Date(ms).toISOString(),
  );
  await world.change('PATCH', `/subscriptions/${id}`, { currentPeriodStart, currentPeriodEnd });
  return new Date(startMs);
}

type Own = Awaited<ReturnType<typeof payer>>;

async function expectUsage(world: CreditWorld, own: Own, expected: Array<[Date, number]>): Promise<void> {
  for (const [at, current] of expected) {
    const is = await world.current(own, at);
    if (is !== current) throw new Error(`at ${at.toISOString()} ${is} were used, and not ${current}`);
  }
}

export const CORRECTION_SCENARIOS: readonly CreditScenario[] = [...CORRECTIONS, ...PAST_PERIODS];
