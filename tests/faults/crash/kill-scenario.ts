import { auditOf } from '../../support/audit-of.ts';
import { compareBreakdowns, compareCounters, compareEvents } from '../../support/compare.ts';
import type { Instance, Role } from '../../support/instance.ts';
import type { MeantEvent } from '../../support/planned-event.ts';
import type { Random } from '../../support/random.ts';
import { compareLog, compareRows } from '../../support/stored-events.ts';
import { type JudgedInstance, startJudged } from '../judged-instance.ts';
import type { FaultOptions, RoundReport } from '../promise.ts';
import type { Workload } from '../workload.ts';
import { type Killer, startKiller } from './killer.ts';
import { createResponseWatch, type ResponseWatch } from './response-watch.ts';

/** One installation, the ledger of all responses, and the means to kill with. */
export interface Scenario extends JudgedInstance {
  /** Of the environment that `judged` is about. */
  key: string;
  watch: ResponseWatch;
  killer: Killer;
  /** Events of all rounds, a bounded window, to be replayed. */
  past: MeantEvent[];
  /** When the data plane was started again last. */
  restartedAt: number;
}

const CONNECTIONS = 32;
/**
 * Many ranges are to pass under the load: a kill should find each of their steps. At level info the log says
 * which were cut off (cut-off-loads.ts).
 */
const ENVIRONMENT = { LOG_LEVEL: 'info', LOAD_LINGER_MS: '5' };

export async function openScenario(): Promise<Scenario> {
  const watch = createResponseWatch();
  const opened = await startJudged(ENVIRONMENT, { connections: CONNECTIONS, onResponse: watch.seen });
  const killer = startKiller();
  return {
    ...opened,
    key: opened.instance.keys().live.secret,
    ...{ watch, killer, past: [], restartedAt: Number.NEGATIVE_INFINITY },
    close(options) {
      killer.close();
      return opened.close(options);
    },
  };
}

/** What the kills of each are counted as. */
export const KILLS: Record<Role, string> = {
  'data plane': 'killsOfDataPlane',
  'control side': 'killsOfControlSide',
  postgres: 'killsOfPostgres',
  supervisor: 'killsOfSupervisor',
};

/** A kill within a round: the load is on. */
export interface Kill {
  scenario: Scenario;
  workload: Workload;
  random: Random;
  /** How many rounds before had the same victim. */
  nth: number;
}

export interface SeenOfKill {
  counts: Record<string, number>;
  peaks: Record<string, number>;
}

/** Throws when the process that was killed is still the one that runs: the kill has shown nothing. */
export function mustBeAnother(instance: Instance, role: Role, killed: number): void {
  const pid = instance.pid(role);
  if (pid === killed) throw new Error(`the ${role} was to be killed, and still is process ${pid}`);
}

/**
 * Windows are cut when they are read, which no kill touches: what it could spoil shows in the hours of all
 * that is stored and, for `custom`, in the events. Each window has its turn in app/main-job.whole.test.ts.
 */
const SHORT_WINDOWS = ['all', 'custom'];

/** From every side: responses, counters, breakdowns, the list of events, audit, log, stored rows. */
export async function judgeScenario(
  { instance, judged }: Scenario,
  form: FaultOptions['form'],
): Promise<RoundReport> {
  const { ledger } = judged;
  const problems = [
    ...ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged, form === 'short' ? SHORT_WINDOWS : undefined)),
    ...(await compareEvents(judged)),
    ...(await auditOf(instance.dataDir)),
  ];
  const exitCode = await instance.stop();
  if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
  problems.push(
    ...(await compareLog(instance.dataDir, ledger)),
    ...(await compareRows(instance.dataDir, ledger)),
  );
  return { counts: { eventsAcknowledged: ledger.size() }, problems };
}
