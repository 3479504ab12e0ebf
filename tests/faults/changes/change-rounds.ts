import { setTimeout as pass } from 'node:timers/promises';
import type { Api } from '../../support/api.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import { createRandom } from '../../support/random.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { type ChangeWorkload, startChangeWorkload } from './change-workload.ts';
import { judgeChanges } from './judge-changes.ts';
import { judgeNotified } from './judge-notified.ts';
import { CHANGES, planChanges } from './plan-changes.ts';
import { readStoredChanges } from './stored-changes.ts';

/**
 * Rounds of changes of every kind by many clients at once, a kill -9 within them, and a look at every row,
 * event and audit entry afterwards. One installation lives through all of them.
 */
export const changesKilled: FaultPromise = {
  promises: [20],
  title: 'the control side, Postgres and the supervisor are killed while the API changes things',
  rounds: { short: 3, long: 150 },
  async open({ seed }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 * SENDERS });
    const taken = new Set<string>();
    return {
      round: (number) => killRound({ instance, api, taken }, { seed, number }),
      judge: async () => judgeKinds(taken),
      close,
    };
  },
};

const SENDERS = 8;
/** The supervisor takes everything with it and is started again by us: a start each time. */
const VICTIMS: readonly Role[] = [
  ...Array<Role[]>(4).fill(['control side', 'postgres', 'control side']).flat(),
  'supervisor',
];
/** Before the kill and after it: enough that every kind of change meets every other. */
const RESPONSES_BEFORE = { least: 50, most: 350 };
const RESPONSES_AFTER = 150;
const RESPONSES_PATIENCE_MS = 60_000;

interface Scenario {
  instance: Instance;
  api: Api;
  /** Operations that were taken at least once. */
  taken: Set<string>;
}

async function killRound(
  { instance, api, taken }: Scenario,
  { seed, number }: { seed: number; number: number },
): Promise<RoundReport> {
  const random = createRandom(roundSeed(seed, number));
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const since = new Date();
  const planner = planChanges(random, `r${seed}-${number}-${since.getTime()}`, taken);
  const workload = startChangeWorkload({ api, planner, random, senders: SENDERS });
  await untilResponse(workload, RESPONSES_BEFORE.least + random.below(RESPONSES_BEFORE.most));
  await instance.kill(victim);
  const before = workload.responded();
  if (victim === 'supervisor') await instance.start();
  await untilResponse(workload, before + RESPONSES_AFTER);
  const { outcomes, problems, repeated } = await workload.stop();
  const environment = `${instance.keys().workspaceId}:live`;
  const stored = await readStoredChanges(instance.dataDir, { environment, since });
  const changesTaken = outcomes.filter(({ response }) => response.status < 300).length;
  const counts = {
    [`kills of ${victim}`]: 1,
    changesTaken,
    changesRejected: outcomes.length - changesTaken,
    requestsRepeated: repeated,
    eventsNotified: stored.events.length,
  };
  const wrongNotices = await judgeNotified({ instance, api }, since);
  return { counts, problems: [...problems, ...judgeChanges(outcomes, stored), ...wrongNotices] };
}

async function untilResponse(workload: ChangeWorkload, count: number): Promise<void> {
  for (const giveUpAt = Date.now() + RESPONSES_PATIENCE_MS; workload.responded() < count; await pass(1)) {
    if (Date.now() > giveUpAt) throw new Error(`fewer than ${count} changes received a response in time`);
  }
}

/** What was never taken was never tried. */
function judgeKinds(taken: Set<string>): RoundReport {
  const missed = CHANGES.map(([operationId]) => operationId).filter((one) => !taken.has(one));
  const problems = missed.map((operationId) => `${operationId} was never taken: nothing is known of it`);
  return { counts: { kindsOfChange: taken.size }, problems };
}
