import { createApi } from '../api.ts';
import { compareBreakdowns, compareCounters, compareEvents, type Judged } from '../compare.ts';
import { type Instance, startInstance } from '../instance.ts';
import { createLedger } from '../ledger.ts';
import { makeWorld } from '../make-world.ts';
import type { MeantEvent } from '../planned-event.ts';
import type { Random } from '../random.ts';
import { type AnswerWatch, createAnswerWatch } from './answer-watch.ts';
import { type Killer, startKiller } from './killer.ts';
import type { RoundReport } from './promise.ts';
import { auditFaults, compareLog, compareRows } from './stored-events.ts';
import type { Storm } from './storm.ts';

/** One installation, the ledger of all it was told, and what is killed with. */
export interface Scene {
  instance: Instance;
  judged: Judged;
  /** Of the environment that `judged` is about. */
  key: string;
  watch: AnswerWatch;
  killer: Killer;
  /** Events of all rounds, a bounded window, to be replayed. */
  past: MeantEvent[];
  /** When the data plane was started again last. */
  restartedAt: number;
}

const CONNECTIONS = 32;
/** Many ranges are to pass under the load: a kill should find each of their steps. */
const ENVIRONMENT = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5' };

export async function openScene(): Promise<Scene> {
  const instance = await startInstance(ENVIRONMENT);
  try {
    const watch = createAnswerWatch();
    const key = instance.keys().live.secret;
    const api = createApi({ origin: instance.origin, key, connections: CONNECTIONS, onAnswer: watch.seen });
    const world = await makeWorld(api);
    const judged = { api, world, ledger: createLedger(world) };
    const restartedAt = Number.NEGATIVE_INFINITY;
    return { instance, judged, key, watch, killer: startKiller(), past: [], restartedAt };
  } catch (error) {
    await instance.remove();
    throw error;
  }
}

/** A kill within a round: the load is on. */
export interface Kill {
  scene: Scene;
  storm: Storm;
  random: Random;
}

export interface SeenOfKill {
  counts: Record<string, number>;
  peaks: Record<string, number>;
}

/** From every side: answers, counters, every breakdown, the list of events, audit, log, stored rows. */
export async function judgeScene({ instance, judged }: Scene): Promise<RoundReport> {
  const { ledger } = judged;
  const problems = [
    ...ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged)),
    ...(await compareEvents(judged)),
    ...(await auditFaults(instance.dataDir)),
  ];
  const exitCode = await instance.stop();
  if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
  problems.push(
    ...(await compareLog(instance.dataDir, ledger)),
    ...(await compareRows(instance.dataDir, ledger)),
  );
  return { counts: { eventsAcknowledged: ledger.size() }, problems };
}

export async function closeScene(
  { instance, judged, killer }: Scene,
  { keep }: { keep: boolean },
): Promise<string | undefined> {
  killer.close();
  await judged.api.close();
  if (keep) return await instance.leave();
  await instance.remove();
  return undefined;
}
