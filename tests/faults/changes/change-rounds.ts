import type { Api } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import { startChangeWorkload } from './change-workload.ts';
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
  async open({ onEnd }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 * SENDERS });
    onEnd(close);
    const taken = new Set<string>();
    return {
      round: (round) => killRound({ instance, api, taken }, round),
      judge: async () => judgeKinds(taken),
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
const PATIENCE = { timeoutMs: 60_000, everyMs: 1 };

interface Scenario {
  instance: Instance;
  api: Api;
  /** Operations that were taken at least once. */
  taken: Set<string>;
}

async function killRound(
  { instance, api, taken }: Scenario,
  { number, random, run }: Round,
): Promise<RoundReport> {
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const since = new Date();
  const planner = planChanges(random, run, taken);
  const workload = startChangeWorkload({ api, planner, random, senders: SENDERS });
  const untilResponse = (count: number) => {
    return seenInTime(() => workload.responded() >= count || undefined, PATIENCE, `${count} changes`);
  };
  const { summary } = await during(workload, async () => {
    await untilResponse(RESPONSES_BEFORE.least + random.below(RESPONSES_BEFORE.most));
    await instance.kill(victim);
    const before = workload.responded();
    if (victim === 'supervisor') await instance.start();
    await untilResponse(before + RESPONSES_AFTER);
  });
  const { outcomes, problems, repeated } = summary;
  const stored = await readStoredChanges(instance, since);
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

/** What was never taken was never tried. */
function judgeKinds(taken: Set<string>): RoundReport {
  const missed = CHANGES.map(([operationId]) => operationId).filter((one) => !taken.has(one));
  const problems = missed.map((operationId) => `${operationId} was never taken: nothing is known of it`);
  return { counts: { kindsOfChange: taken.size }, problems };
}
