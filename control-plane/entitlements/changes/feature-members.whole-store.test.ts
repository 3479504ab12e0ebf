import { beforeEach, expect, it } from 'vitest';
import { apiOfThisFile } from '../../api-under-test.ts';
import type { FanoutJob } from '../../store/fanout-jobs.ts';
import { FANOUT_MEMBERS } from '../../store/fanout-members.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { fanoutJobs, notifiedUnderTest, termsOf } from './changes-under-test.ts';

/*
 * A change of a metered feature reaches the metered history of every customer that has it, whatever the value
 * is and whatever grants it, over HTTP and a real Postgres.
 *
 * Mutants this suite catches: touchEntitlements left out of a change of the meter; any one of the ways to
 * have a feature left out of control-plane/store/fanout-members.ts; customers found only by what they were
 * notified of.
 */
const DAY_MS = 86_400_000;
const clock = { atMs: Date.now(), nowMs: () => clock.atMs, monotonicMs: () => performance.now() };

let number = 0;
let featureKey: string;
let meters: [before: string, after: string];
/** By what grants the feature. */
let members: Record<string, string>;

const api = await apiOfThisFile(undefined, { clock });
const made = customerGrantsUnderTest(api);
const notified = notifiedUnderTest(api.pool, api.environment);

beforeEach(async () => {
  number += 1;
  featureKey = `feature-${number}`;
  meters = [`before-${number}`, `after-${number}`];
  for (const key of meters)
    await api.request('meters.create', { body: { key, name: key, aggregation: 'sum' } });
  await made.feature(featureKey, 'metered', meters[0]);
  members = await membersOf({ [featureKey]: 1_000 });
  await notified.quiet();
});

it('a feature that counts another meter limits that one from then on, and the former no longer', async () => {
  const bystander = await made.customer();
  await made.subscribe(bystander, {});
  const before = await limitsOf(meters[0]);
  const changedMs = pass(1_000);
  const response = await api.request('features.update', {
    params: { featureKey },
    body: { meterKey: meters[1] },
  });
  expect(response.status).toBe(200);
  pass(1_000);
  await notified.quiet();
  const { ahead, paused, ...giving } = before;
  expect(ahead).toEqual([[expect.any(Number), ['1000']]]);
  const ended = Object.entries(before).map(([how, terms]) => [how, [...terms, [changedMs, []]]]);
  expect(await limitsOf(meters[0])).toEqual({ ...Object.fromEntries(ended), ahead: [] });
  const moved = Object.entries(giving).map(([how, terms]) => [
    how,
    [[expect.any(Number), terms.at(-1)?.[1]]],
  ]);
  const limits = await limitsOf(meters[1]);
  expect(limits).toEqual({ ...Object.fromEntries(moved), ahead, paused: [[changedMs, []]] });
  expect(await termsOf(api.pool, bystander, meters[1])).toEqual([]);
  for (const [how, terms] of Object.entries(limits)) {
    const [startsMs] = terms[0] ?? [];
    if (how !== 'ahead') expect([how, startsMs]).toEqual([how, changedMs]);
  }
  // The usage of both meters is settled again.
  const { rows } = await api.pool.query('SELECT DISTINCT meter_key AS key FROM settlement_marks');
  expect(rows.map(({ key }) => key)).toEqual(expect.arrayContaining([...meters]));
});

it('a name alone changes no history', async () => {
  const before = await limitsOf(meters[0]);
  pass(1_000);
  await api.request('features.update', {
    params: { featureKey },
    body: { name: 'Other', meterKey: meters[0] },
  });
  expect(await fanoutJobs(api.pool)).toBe(0);
  expect(await limitsOf(meters[0])).toEqual(before);
});

it('a deleted feature limits no customer any more, also customers that had nothing of it', async () => {
  const before = await limitsOf(meters[0]);
  const deletedMs = pass(1_000);
  await api.request('features.delete', { params: { featureKey } });
  pass(1_000);
  await notified.quiet();
  const ended = Object.entries(before).map(([how, terms]) => [how, [...terms, [deletedMs, []]]]);
  expect(await limitsOf(meters[0])).toEqual({ ...Object.fromEntries(ended), ahead: [] });
});

it('a feature that counts a third meter and is deleted leaves no limit on any of them', async () => {
  const third = `third-${number}`;
  await api.request('meters.create', { body: { key: third, name: third, aggregation: 'sum' } });
  for (const meterKey of [meters[1], third]) {
    await api.request('features.update', { params: { featureKey }, body: { meterKey } });
  }
  await api.request('features.delete', { params: { featureKey } });
  pass(1_000);
  await notified.quiet();
  for (const meterKey of [...meters, third]) {
    const last = Object.values(await limitsOf(meterKey)).map((terms) => terms.at(-1)?.[1] ?? []);
    expect([meterKey, last]).toEqual([meterKey, last.map(() => [])]);
  }
});

it('a walk finds every customer with the feature, by grant or by history, for any chunk size', async () => {
  const everyMember = Object.values(members).sort();
  for (const limit of [1, 2, 5, 100]) {
    const met = (await found({ target: featureKey }, limit)).sort();
    expect(met).toEqual([...everyMember, members.addon].sort());
    const rows = await FANOUT_MEMBERS.feature(api.pool, jobOf({ target: featureKey }), limit);
    const upTo = { target: featureKey, isRound: true, roundTo: rows.at(-1)?.place ?? '' };
    expect(await found(upTo, 3)).toEqual(rows.map(({ customerId }) => customerId));
  }
  expect(await found({ target: `gone ${meters[0]}` }, 3)).toEqual(everyMember);
  expect(await found({ target: `gone ${meters[1]}` }, 3)).toEqual([]);
});

/** All members of a job, read in chunks of this size. */
async function found(job: Partial<FanoutJob>, limit: number): Promise<string[]> {
  const all: string[] = [];
  for (let position = ''; ; ) {
    const rows = await FANOUT_MEMBERS.feature(api.pool, jobOf({ ...job, position }), limit);
    all.push(...rows.map(({ customerId }) => customerId));
    if (rows.length < limit) return all;
    position = rows.at(-1)?.place ?? '';
  }
}

function jobOf(job: Partial<FanoutJob>): FanoutJob {
  const rest = { target: '', position: '', roundTo: '', isRound: false, revision: 1, changedAt: new Date() };
  return { environment: api.environment, scope: 'feature', ...rest, ...job };
}

/** One customer for each way to have the feature, including values of 0 and customers without a grant yet. */
async function membersOf(given: Record<string, number>): Promise<Record<string, string>> {
  const planId = await made.plan(given);
  await api.request('plans.publish', { params: { planId } });
  const pinnedTo = await made.plan(given);
  await api.request('plans.publish', { params: { planId: pinnedTo } });
  await made.giveInstead(pinnedTo, {});
  const addonId = await made.addon(`addon-${number}`, given);
  const none = await made.plan({});
  const ways: Record<string, (customerId: string) => Promise<unknown>> = {
    plan: (id) => made.subscribe(id, {}, { planId }),
    pinned: (id) => made.subscribe(id, {}, { planId: pinnedTo, planVersion: 1 }),
    nothing: (id) => made.subscribe(id, { [featureKey]: 0 }),
    paused: async (id) => made.change(await made.subscribe(id, {}, { planId }), { status: 'paused' }),
    ahead: (id) =>
      made.subscribe(id, {}, { planId, currentPeriodStart: new Date(clock.atMs + DAY_MS).toISOString() }),
    addon: async (id) => {
      const subscriptionId = await made.subscribe(id, {}, { planId: none });
      await api.request('subscriptions.setAddon', {
        params: { subscriptionId, addonId },
        body: { quantity: 2 },
      });
    },
    override: (id) => made.override(id, featureKey, { value: 7 }),
    zeroOverride: (id) => made.override(id, featureKey, { value: 0 }),
  };
  const byWay: Record<string, string> = {};
  for (const [how, grant] of Object.entries(ways)) {
    byWay[how] = await made.customer();
    await grant(byWay[how]);
  }
  return byWay;
}

type Terms = Array<[startsMs: number, limits: string[]]>;

async function limitsOf(meterKey: string): Promise<Record<string, Terms>> {
  const all: Record<string, Terms> = {};
  for (const [how, customerId] of Object.entries(members))
    all[how] = await limitsBySince(customerId, meterKey);
  return all;
}

async function limitsBySince(customerId: string, meterKey: string): Promise<Terms> {
  return (await termsOf(api.pool, customerId, meterKey)).map(({ at, limits }) => [at, limits]);
}

/** Returns the time after it. */
function pass(ms: number): number {
  clock.atMs += ms;
  return clock.atMs;
}
