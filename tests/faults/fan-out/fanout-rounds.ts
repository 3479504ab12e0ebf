import { isDeepStrictEqual } from 'node:util';
import { type Api, callDone } from '../../support/api.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { Random } from '../../support/random.ts';
import { judgeCustomer } from '../changes/judge-notified.ts';
import type { FaultOptions, FaultPromise, Round, RoundReport } from '../promise.ts';
import { openSubscribers, type Subscribers } from './subscribers.ts';

/**
 * A plan with many subscribers changes, and the process that notifies them is killed meanwhile. Each one is
 * notified once of each feature that changed, and in time; the change itself gets its response at once.
 */
export const fanoutKilled: FaultPromise = {
  promises: [22],
  title: 'a plan with many subscribers changes, and the notifying process is killed',
  rounds: { short: 1, long: 12 },
  async open({ form, onEnd }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 });
    onEnd(close);
    const subscribers = openSubscribers(instance);
    const planId = await makePlan(api);
    await subscribers.insert(planId, SIZES[form].subscribers);
    const scenario = { instance, api, subscribers, planId, form };
    return { round: (round) => fanoutRound(scenario, round) };
  },
};

/**
 * The long form is the promise: 50,000, 200 ms and 60 s. The short one runs concurrently with other tests,
 * whatever the machine has to do meanwhile.
 */
const SIZES = {
  short: { subscribers: 5_000, responseMs: 2_000 },
  long: { subscribers: 50_000, responseMs: 200 },
};
const ALL_NOTIFIED_MS = 60_000;
/** By turns; the first of the long form is an undisturbed one. */
const VICTIMS: Record<FaultOptions['form'], ReadonlyArray<Role | undefined>> = {
  short: ['control side'],
  long: [undefined, 'control side', 'control side', 'postgres'],
};
const OVER = { timeoutMs: 2 * ALL_NOTIFIED_MS, everyMs: 100 };
const FEATURES = ['fanout-flag', 'fanout-limit'];

interface Scenario extends Pick<FaultOptions, 'form'> {
  instance: Instance;
  api: Api;
  subscribers: Subscribers;
  planId: string;
}

async function fanoutRound(scenario: Scenario, { number, random }: Round): Promise<RoundReport> {
  const { instance, subscribers, form } = scenario;
  const { subscribers: many, responseMs: responseMsMax } = SIZES[form];
  const victims = VICTIMS[form];
  const victim = victims[number % victims.length];
  const since = await subscribers.lastEvent();
  const startedAt = performance.now();
  const worth = { 'fanout-flag': number % 2 === 0, 'fanout-limit': number + 1 };
  await changePlan(scenario, worth);
  const responseMs = Math.round(performance.now() - startedAt);
  if (victim) {
    const killAfter = 1 + random.below(many);
    const isThere = async () => (await subscribers.notified(since)).events >= killAfter || undefined;
    await seenInTime(isThere, { timeoutMs: ALL_NOTIFIED_MS, everyMs: 20 }, `${killAfter} events`);
    await instance.kill(victim);
  }
  const isOver = async () => {
    const seen = await subscribers.notified(since).catch(() => undefined);
    // The change has its response: its job exists until all are notified.
    return seen?.waiting === 0 ? seen : undefined;
  };
  const notified = await seenInTime(isOver, OVER, 'the end of the job');
  const allNotifiedMs = Math.round(performance.now() - startedAt);
  const problems = await differences(scenario, random);
  for (const one of notified.features) {
    const ought = { featureKey: one.featureKey, events: many, customers: many };
    if (!isDeepStrictEqual(one, ought)) problems.push(`${JSON.stringify(one)} and ought to be ${many} each`);
  }
  const features = notified.features.length;
  if (features !== FEATURES.length) problems.push(`${features} features were notified`);
  if (responseMs > responseMsMax) problems.push(`the change took ${responseMs} ms`);
  if (allNotifiedMs > ALL_NOTIFIED_MS) problems.push(`all were notified after ${allNotifiedMs} ms`);
  return {
    counts: { changes: 1, eventsNotified: notified.events, ...(victim ? { [`kills of ${victim}`]: 1 } : {}) },
    peaks: { responseMs, [victim ? 'allNotifiedMsWithAKill' : 'allNotifiedMs']: allNotifiedMs },
    problems,
  };
}

async function changePlan({ api, planId }: Scenario, worth: Record<string, unknown>): Promise<void> {
  const entitlements = Object.entries(worth).map(([featureKey, value]) => ({ featureKey, value }));
  await callDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
}

const SAMPLES = 20;

/** The last notifications of some of them, compared with what the API returns. */
async function differences({ api, subscribers }: Scenario, random: Random): Promise<string[]> {
  const rows = await subscribers.notifiedValues(SAMPLES, random.below(1_000));
  const found = await Promise.all(rows.map((row) => judgeCustomer(api, row)));
  return found.flat();
}

async function makePlan(api: Api): Promise<string> {
  for (const key of FEATURES) {
    const type = key.endsWith('flag') ? 'boolean' : 'limit';
    await callDone(api, 'POST', '/features', { key, name: key, type });
  }
  const { id } = await callDone(api, 'POST', '/plans', { name: 'Of many', productId: 'fanout' });
  await callDone(api, 'POST', `/plans/${id}/publish`);
  return String(id);
}
