import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import type { Role } from '../instance.ts';
import { createRandom } from '../random.ts';
import { killBehind } from './kill-behind.ts';
import { killDataPlane } from './kill-data-plane.ts';
import { closeScene, judgeScene, openScene, type Scene } from './kill-scene.ts';
import { type RoundReport, roundSeed, type TorturePromise } from './promise.ts';
import { startStorm } from './storm.ts';

export interface KillPlan {
  promises: readonly number[];
  title: string;
  rounds: { short: number; long: number };
  /** Who is killed in which round; begun anew when it is through. */
  victims: readonly Role[];
}

/**
 * Rounds of a load, a kill -9 within it, and replays of what was acknowledged just before. One installation
 * lives through all of them. In the end log, warehouse and every counter are compared with the ledger.
 */
function killRounds(plan: KillPlan): TorturePromise {
  const { promises, title, rounds, victims } = plan;
  return {
    ...{ promises, title, rounds },
    async open({ seed }) {
      const scene = await openScene();
      return {
        round: (number) =>
          killRound(scene, victims[number % victims.length] ?? 'data plane', { seed, number }),
        judge: () => judgeScene(scene),
        close: (options) => closeScene(scene, options),
      };
    },
  };
}

/**
 * The supervisor lets a child that dies again within a second of being ready wait longer each time. The
 * rounds are about what is found afterwards, not about that.
 */
const WELL_AFTER_MS = 1_100;

/** One of the supervisor to ten of what stands behind the answer. */
const BEHIND: readonly Role[] = ['supervisor', ...Array<Role[]>(5).fill(['control side', 'postgres']).flat()];

export const dataPlaneKilled = killRounds({
  promises: [1, 2, 3],
  title: 'the data plane is killed while it answers',
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
  rounds: { short: 20, long: 420 },
  victims: [...BEHIND, 'supervisor' as const].flatMap((victim, at): Role[] => {
    return at < 8 ? ['data plane', victim] : [victim];
  }),
});

interface RoundOf {
  seed: number;
  number: number;
}

async function killRound(scene: Scene, victim: Role, { seed, number }: RoundOf): Promise<RoundReport> {
  const own = roundSeed(seed, number);
  await pass(Math.max(0, scene.restartedAt + WELL_AFTER_MS - performance.now()));
  const run = `r${seed}-${number}`;
  const storm = startStorm(scene.judged, { seed: own, run, past: scene.past, ...STORMS[victim] });
  const kill = { scene, storm, random: createRandom(own) };
  const seen = victim === 'data plane' ? await killDataPlane(kill) : await killBehind(kill, victim);
  const counts = { ...seen.counts, ...(await storm.stop()), [KILLS[victim]]: 1 };
  return { counts, peaks: seen.peaks, problems: scene.judged.ledger.problems() };
}

const KILLS: Record<Role, string> = {
  'data plane': 'killsOfDataPlane',
  'control side': 'killsOfControlSide',
  postgres: 'killsOfPostgres',
  supervisor: 'killsOfSupervisor',
};

/**
 * Against the data plane many small requests, so that a kill cuts off many at every step from the first byte
 * to the answer. Against the others just enough that a range is always on its way.
 */
const STORMS: Record<Role, { lanes: number; batchItems: number }> = {
  'data plane': { lanes: 12, batchItems: 8 },
  'control side': { lanes: 2, batchItems: 50 },
  postgres: { lanes: 2, batchItems: 50 },
  supervisor: { lanes: 4, batchItems: 50 },
};
