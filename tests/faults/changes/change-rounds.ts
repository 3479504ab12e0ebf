import { setTimeout as pass } from 'node:timers/promises';
import { type Api, createApi } from '../../support/api.ts';
import { type Instance, type Role, startInstance } from '../../support/instance.ts';
import { createRandom } from '../../support/random.ts';
import { type RoundReport, roundSeed, type TorturePromise } from '../promise.ts';
import { type ChangeStorm, startChangeStorm } from './change-storm.ts';
import { judgeChanges } from './judge-changes.ts';
import { judgeTold } from './judge-told.ts';
import { CHANGES, planChanges } from './plan-changes.ts';
import { readStoredChanges } from './stored-changes.ts';

/**
 * Rounds of changes of every kind by many clients at once, a kill -9 within them, and a look at every row,
 * event and audit entry afterwards. One installation lives through all of them.
 */
export const changesKilled: TorturePromise = {
  promises: [20],
  title: 'the control side, Postgres and the supervisor are killed while the API changes things',
  rounds: { short: 3, long: 150 },
  async open({ seed }) {
    const instance = await startInstance({ LOG_LEVEL: 'warn' });
    const key = instance.keys().live.secret;
    const api = createApi({ origin: instance.origin, key, connections: 2 * LANES });
    const taken = new Set<string>();
    return {
      round: (number) => killRound({ instance, api, taken }, { seed, number }),
      judge: async () => judgeKinds(taken),
      async close({ keep }) {
        await api.close();
        if (keep) return await instance.leave();
        await instance.remove();
        return undefined;
      },
    };
  },
};

const LANES = 8;
/** The supervisor takes everything with it and is started again by us: a start each time. */
const VICTIMS: readonly Role[] = [
  ...Array<Role[]>(4).fill(['control side', 'postgres', 'control side']).flat(),
  'supervisor',
];
/** Before the kill and after it: enough that every kind of change meets every other. */
const ANSWERS_BEFORE = { least: 50, most: 350 };
const ANSWERS_AFTER = 150;
const ANSWERS_PATIENCE_MS = 60_000;

interface Scene {
  instance: Instance;
  api: Api;
  /** Operations that were taken at least once. */
  taken: Set<string>;
}

async function killRound(
  { instance, api, taken }: Scene,
  { seed, number }: { seed: number; number: number },
): Promise<RoundReport> {
  const random = createRandom(roundSeed(seed, number));
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const since = new Date();
  const planner = planChanges(random, `r${seed}-${number}-${since.getTime()}`, taken);
  const storm = startChangeStorm({ api, planner, random, lanes: LANES });
  await untilAnswered(storm, ANSWERS_BEFORE.least + random.below(ANSWERS_BEFORE.most));
  await instance.kill(victim);
  const before = storm.answered();
  if (victim === 'supervisor') await instance.start();
  await untilAnswered(storm, before + ANSWERS_AFTER);
  const { outcomes, problems, repeated } = await storm.stop();
  const environment = `${instance.keys().workspaceId}:live`;
  const stored = await readStoredChanges(instance.dataDir, { environment, since });
  const changesTaken = outcomes.filter(({ answer }) => answer.status < 300).length;
  const counts = {
    [`kills of ${victim}`]: 1,
    changesTaken,
    changesRefused: outcomes.length - changesTaken,
    requestsRepeated: repeated,
    eventsTold: stored.events.length,
  };
  const untold = await judgeTold({ instance, api }, since);
  return { counts, problems: [...problems, ...judgeChanges(outcomes, stored), ...untold] };
}

async function untilAnswered(storm: ChangeStorm, count: number): Promise<void> {
  for (const giveUpAt = Date.now() + ANSWERS_PATIENCE_MS; storm.answered() < count; await pass(1)) {
    if (Date.now() > giveUpAt) throw new Error(`no ${count} changes were answered in time`);
  }
}

/** What was never taken was never tried. */
function judgeKinds(taken: Set<string>): RoundReport {
  const missed = CHANGES.map(([operationId]) => operationId).filter((one) => !taken.has(one));
  const problems = missed.map((operationId) => `${operationId} was never taken: nothing is known of it`);
  return { counts: { kindsOfChange: taken.size }, problems };
}
