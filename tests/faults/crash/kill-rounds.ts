import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { compareCounters } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import type { Role } from '../../support/instance.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { problemsOf } from '../judged-instance.ts';
import type { FaultPromise, Form, Round, RoundReport } from '../promise.ts';
import { sendReplays, startWorkload, type WorkloadOptions } from '../workload.ts';
import { cutOffLoads, idleKills, inALoad } from './idle-kills.ts';
import {
  judgeScenario,
  KILLS,
  type Kill,
  killDataPlane,
  mustBeAnother,
  openScenario,
  type Scenario,
  type SeenOfKill,
} from './kill-scenario.ts';

interface KillPlan extends Pick<FaultPromise, 'promises' | 'title' | 'rounds'> {
  /** The victim of each round; starts over at the end. */
  victims: readonly Role[];
}

/**
 * Rounds of a load, a kill -9 within it, and replays of what was acknowledged just before. One installation
 * lives through all of them. Every counter is compared with the ledger now and then; in the end the log and
 * the warehouse are as well.
 */
function killRounds({ victims, ...named }: KillPlan): FaultPromise {
  return {
    ...named,
    async open({ form, onEnd }) {
      const scenario = await openScenario({ onEnd });
      const victimOf = (number: number) => victims[number % victims.length] ?? 'data plane';
      const seen: Record<string, number> = {};
      return {
        async round(round) {
          const victim = victimOf(round.number);
          const before = Array.from({ length: round.number }, (_, earlier) => victimOf(earlier));
          const nth = before.filter((one) => one === victim).length;
          const report = await killRound(scenario, round, { form, victim, nth });
          for (const [name, count] of Object.entries(report.counts)) seen[name] = (seen[name] ?? 0) + count;
          return report;
        },
        async judge() {
          const report = await judgeScenario(scenario, form);
          return { ...report, problems: [...report.problems, ...idleKills(seen)] };
        },
      };
    },
  };
}

/**
 * The supervisor lets a child that dies again within a second of being ready wait longer each time. The
 * rounds are about what is found afterwards, not about that.
 */
const WELL_AFTER_MS = 1_100;

/** One of the supervisor to ten of the processes that work after the response. */
const BEHIND: readonly Role[] = ['supervisor', ...Array<Role[]>(5).fill(['control side', 'postgres']).flat()];

export const dataPlaneKilled = killRounds({
  promises: [1, 2, 3],
  title: 'the data plane is killed while it responds',
  rounds: { short: 8, long: 200 },
  victims: ['data plane'],
});

export const othersKilled = killRounds({
  promises: [4],
  title: 'the control side, Postgres and the supervisor are killed while they load',
  rounds: { short: 12, long: 220 },
  victims: BEHIND,
});

/**
 * Both on one installation, by turns: for `npm test`. While the control side comes back the data plane has
 * been well for long enough to be killed again.
 */
export const allKilled = killRounds({
  promises: [1, 2, 3, 4],
  title: 'every process is killed',
  rounds: { short: 15, long: 391 },
  victims: BEHIND.flatMap((victim, at): Role[] => {
    return at < 6 ? ['data plane', victim] : [victim];
  }),
});

/**
 * So that a fault is known to be of some ten rounds, and that no later one can make up for it. After each of
 * them it would be a tenth of a long run: half a second with 100,000 events.
 */
const COMPARED_EVERY = 10;

async function killRound(
  scenario: Scenario,
  round: Round,
  { form, victim, nth }: { form: Form; victim: Role; nth: number },
): Promise<RoundReport> {
  const { judged } = scenario;
  await pass(Math.max(0, scenario.restartedAt + WELL_AFTER_MS - performance.now()));
  const workload = startWorkload(judged, round, WORKLOADS[form][victim]);
  const kill = { scenario, workload, nth, random: round.random };
  const { done: seen, summary } = await during(workload, () => {
    return victim === 'data plane' ? killDataPlane(kill) : killBehind(kill, victim);
  });
  const killsOfRequests = victim === 'data plane' && summary.requestsRepeated > 0 ? 1 : 0;
  const counts = { ...seen.counts, ...summary, killsOfRequests, [KILLS[victim]]: 1 };
  const isCompared = (round.number + 1) % COMPARED_EVERY === 0;
  const problems = await problemsOf(judged, ...(isCompared ? [compareCounters] : []));
  return { counts, peaks: seen.peaks, problems };
}

const CATCH_UP_PATIENCE_MS = 60_000;

/** Kills while events are being loaded, and waits until everything acknowledged is counted again. */
async function killBehind({ scenario, workload, random }: Kill, victim: Role): Promise<SeenOfKill> {
  const { instance, judged } = scenario;
  await waitUntilCounted(judged, CATCH_UP_PATIENCE_MS);
  await pass(random.below(400));
  const pid = instance.pid(victim);
  const cutOffBefore = cutOffLoads(instance);
  await instance.kill(victim);
  const killedAt = performance.now();
  if (victim === 'supervisor') await instance.start();
  await waitUntilCounted(judged, CATCH_UP_PATIENCE_MS);
  mustBeAnother(instance, victim, pid);
  const peaks = { caughtUpMs: Math.round(performance.now() - killedAt) };
  // What the kill had cut off is taken up before what was acknowledged after it.
  const met = cutOffLoads(instance) > cutOffBefore ? 1 : 0;
  const replaysOfAcknowledged = await sendReplays(judged, workload.recent(), random);
  scenario.restartedAt = performance.now();
  return { counts: { replaysOfAcknowledged, [inALoad(KILLS[victim])]: met }, peaks };
}

/**
 * Against the data plane many small requests, so that a kill cuts off many at every step from the first byte
 * to the response. Against the others just enough that a range is always on its way: it takes some 30 ms.
 */
const BEHIND_THE_RESPONSE = { senders: 2, batchItems: 50, pauseMs: 10 };
/** All that is sent while a process comes back is loaded and compared in the end. */
const FEWER_BEHIND = { senders: 2, batchItems: 10, pauseMs: 25 };
const WORKLOADS: Record<Form, Record<Role, WorkloadOptions>> = {
  long: workloads({ senders: 12, batchItems: 8 }, BEHIND_THE_RESPONSE),
  short: workloads({ senders: 12, batchItems: 8, pauseMs: 5 }, FEWER_BEHIND),
};

function workloads(dataPlane: WorkloadOptions, behind: WorkloadOptions): Record<Role, WorkloadOptions> {
  const supervisor = { ...behind, senders: 4 };
  return { 'data plane': dataPlane, 'control side': behind, postgres: behind, supervisor };
}
