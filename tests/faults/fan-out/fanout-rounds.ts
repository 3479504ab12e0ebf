import { isDeepStrictEqual } from 'node:util';
import { type Api, callDone } from '../../support/api.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openPrepared } from '../../support/open-instance.ts';
import { createRandom } from '../../support/random.ts';
import { type FaultOptions, type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { openSubscribers, type Subscribers } from './subscribers.ts';

/**
 * A plan with many subscribers changes, and the process that notifies them is killed meanwhile. Each one is
 * notified once of each feature that changed, and in time; the change itself gets its response at once.
 */
export const fanoutKilled: FaultPromise = {
  promises: [22],
  title: 'a plan with many subscribers changes, and the notifying process is killed',
  rounds: { short: 1, long: 12 },
  async open(options) {
    return await openPrepared({ LOG_LEVEL: 'warn' }, { connections: 2 }, async ({ instance, api, close }) => {
      const subscribers = openSubscribers(instance);
      const planId = await makePlan(api);
      await subscribers.insert(planId, SIZES[options.form].subscribers);
      const scenario = { instance, api, subscribers, planId, options };
      return { round: (number: number) => fanoutRound(scenario, number), close };
    });
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
const FEATURES = ['fanout-flag', 'fanout-limit'];

interface Scenario {
  instance: Instance;
  api: Api;
  subscribers: Subscribers;
  planId: string;
  options: FaultOptions;
}

async function fanoutRound(scenario: Scenario, number: number): Promise<RoundReport> {
  const { instance, subscribers, options } = scenario;
  const random = createRandom(roundSeed(options.seed, number));
  const { subscribers: many, responseMs: responseMsMax } = SIZES[options.form];
  const victims = VICTIMS[options.form];
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
  const notified = await seenInTime(
    async () => {
      const seen = await subscribers.notified(since).catch(() => undefined);
      // The change has its response: its job exists until all are notified.
      return seen?.waiting === 0 ? seen : undefined;
    },
    { timeoutMs: 2 * ALL_NOTIFIED_MS, everyMs: 100 },
    'the end of the job',
  );
  const allNotifiedMs = Math.round(performance.now() - startedAt);
  const problems = [
    ...notified.features.flatMap((one) => {
      const ought = { featureKey: one.featureKey, events: many, customers: many };
      return isDeepStrictEqual(one, ought) ? [] : [`${JSON.stringify(one)} and ought to be ${many} each`];
    }),
    ...(notified.features.length === FEATURES.length
      ? []
      : [`${notified.features.length} features were notified`]),
    ...(responseMs > responseMsMax ? [`the change took ${responseMs} ms`] : []),
    ...(allNotifiedMs > ALL_NOTIFIED_MS ? [`all were notified after ${allNotifiedMs} ms`] : []),
    ...(await differences(scenario, random)),
  ];
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
async function differences(
  { api, subscribers }: Scenario,
  random: { below(bound: number): number },
): Promise<string[]> {
  const sample = await subscribers.notifiedValues(SAMPLES, random.below(1_000));
  const found: string[] = [];
  for (const { customerId, notified } of sample) {
    const path = `/entitlements/${customerId}`;
    const response = await seenInTime(
      async () => {
        const { status, body } = await api.call('GET', path).catch(() => ({ status: 503, body: [] }));
        return status === 200 ? (body as Array<{ featureKey: string; effectiveValue: unknown }>) : undefined;
      },
      { timeoutMs: ALL_NOTIFIED_MS },
      path,
    );
    const held = response.filter(({ effectiveValue }) => effectiveValue !== false);
    const is = Object.fromEntries(held.map((one) => [one.featureKey, plain(one.effectiveValue)]));
    if (JSON.stringify(is) !== JSON.stringify(notified)) {
      found.push(`${customerId} was notified of ${JSON.stringify(notified)} and reads ${JSON.stringify(is)}`);
    }
  }
  return found;
}

/** Numbers come as text behind a mark. */
function plain(value: unknown): unknown {
  return typeof value === 'string' ? Number(value.slice(1)) : value;
}

async function makePlan(api: Api): Promise<string> {
  for (const key of FEATURES) {
    await callDone(api, 'POST', '/features', {
      key,
      name: key,
      type: key.endsWith('flag') ? 'boolean' : 'limit',
    });
  }
  const { id } = await callDone(api, 'POST', '/plans', { name: 'Of many', productId: 'fanout' });
  await callDone(api, 'POST', `/plans/${id}/publish`);
  return String(id);
}
