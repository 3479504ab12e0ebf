import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { compareCounters } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import type { Role } from '../../support/instance.ts';
import { createRandom } from '../../support/random.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { startWorkload, type WorkloadOptions } from '../workload.ts';
import { idleKills } from './idle-kills.ts';
import { killBehind } from './kill-behind.ts';
import { killDataPlane } from './kill-data-plane.ts';
import { judgeScenario, KILLS, openScenario, type Scenario } from './kill-scenario.ts';

export interface KillPlan {
  promises: readonly number[];
  title: string;
  rounds: { short: number; long: number };
  /** The victim of each round; starts over at the end. */
  victims: readonly Role[];
}

/**
 * Rounds of a load, a kill -9 within it, and replays of what was acknowledged just before. One installation
 * lives through all of them. Every counter is compared with the ledger now and then; in the end the log and
 * the warehouse are as well.
 */
function killRounds(plan: KillPlan): FaultPromise {
  const { promises, title, rounds, victims } = plan;
  return {
    ...{ promises, title, rounds },
    async open({ seed, form }) {
      const scenario = await openScenario();
      const victimOf = (number: number) => victims[number % victims.length] ?? 'data plane';
      const seen: Record<string, number> = {};
      return {
        async round(number) {
          const victim = victimOf(number);
          const before = Array.from({ length: number }, (_, earlier) => victimOf(earlier));
          const nth = before.filter((one) => one === victim).length;
          const report = await killRound(scenario, { seed, number, victim, nth });
          for (const [name, count] of Object.entries(report.counts)) seen[name] = (seen[name] ?? 0) + count;
          return report;
        },
        async judge() {
          const report = await judgeScenario(scenario, form);
          return { ...report, problems: [...report.problems, ...idleKills(seen)] };
        },
        close: scenario.close,
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
export const everybodyKilled = killRounds({
  promises: [1, 2, 3, 4],
  title: 'every process is killed',
  rounds: { short: 19, long: 399 },
  victims: BEHIND.flatMap((victim, at): Role[] => {
    return at < 8 ? ['data plane', victim] : [victim];
  }),
});

/**
 * So that a fault is known to be of some ten rounds, and that no later one can make up for it. After each of
 * them it would be a tenth of a long run: half a second with 100,000 events.
 */
const COMPARED_EVERY = 10;

interface RoundOf {
  seed: number;
  number: number;
  victim: Role;
  nth: number;
}

async function killRound(scenario: Scenario, { seed, number, victim, nth }: RoundOf): Promise<RoundReport> {
  const own = roundSeed(seed, number);
  await pass(Math.max(0, scenario.restartedAt + WELL_AFTER_MS - performance.now()));
  const run = `r${seed}-${number}`;
  const workload = startWorkload(scenario.judged, {
    seed: own,
    run,
    past: scenario.past,
    ...WORKLOADS[victim],
  });
  const kill = { scenario, workload, nth, random: createRandom(own) };
  const { done: seen, summary } = await during(workload, () => {
    return victim === 'data plane' ? killDataPlane(kill) : killBehind(kill, victim);
  });
  const killsOfRequests = victim === 'data plane' && summary.requestsRepeated > 0 ? 1 : 0;
  const counts = { ...seen.counts, ...summary, killsOfRequests, [KILLS[victim]]: 1 };
  const isCompared = (number + 1) % COMPARED_EVERY === 0;
  const wrong = isCompared ? await compareCounters(scenario.judged) : [];
  return { counts, peaks: seen.peaks, problems: [...scenario.judged.ledger.problems(), ...wrong] };
}

/**
 * Against the data plane many small requests, so that a kill cuts off many at every step from the first byte
 * to the response. Against the others just enough that a range is always on its way: it takes some 30 ms.
 */
const BEHIND_THE_RESPONSE = { senders: 2, batchItems: 50, pauseMs: 10 };
const WORKLOADS: Record<Role, Pick<WorkloadOptions, 'senders' | 'batchItems' | 'pauseMs'>> = {
  'data plane': { senders: 12, batchItems: 8 },
  'control side': BEHIND_THE_RESPONSE,
  postgres: BEHIND_THE_RESPONSE,
  supervisor: { ...BEHIND_THE_RESPONSE, senders: 4 },
};
