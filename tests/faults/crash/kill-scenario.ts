import { compareBreakdowns, compareCounters, compareEvents } from '../../support/compare.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import type { Random } from '../../support/random.ts';
import { type JudgedInstance, judgeAndStop, startJudged } from '../judged-instance.ts';
import type { FaultOptions, Form, RoundReport } from '../promise.ts';
import type { Workload } from '../workload.ts';
import { type Killer, startKiller } from './killer.ts';

/** One installation, the ledger of all responses, and the means to kill with. */
export interface Scenario extends JudgedInstance {
  /** Resolves once this many more responses have begun to arrive. */
  moreResponses(count: number): Promise<unknown>;
  killer: Killer;
  /** When the data plane was started again last. */
  restartedAt: number;
}

const CONNECTIONS = 32;
const RESPONSES = { timeoutMs: 60_000, everyMs: 1 };
/**
 * Many ranges are to pass under the load: a kill should find each of their steps. At level info the log says
 * which were cut off (idle-kills.ts).
 */
const ENVIRONMENT = { LOG_LEVEL: 'info', LOAD_LINGER_MS: '5' };

export async function openScenario({ onEnd }: Pick<FaultOptions, 'onEnd'>): Promise<Scenario> {
  let responses = 0;
  const onResponse = () => {
    responses += 1;
  };
  const opened = await startJudged(ENVIRONMENT, { connections: CONNECTIONS, onResponse, onEnd });
  const killer = startKiller();
  onEnd(async () => killer.close());
  return {
    ...opened,
    async moreResponses(count) {
      const due = responses + count;
      await seenInTime(() => responses >= due || undefined, RESPONSES, `${count} responses`);
    },
    killer,
    restartedAt: Number.NEGATIVE_INFINITY,
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

export type SeenOfKill = Required<Pick<RoundReport, 'counts' | 'peaks'>>;

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
export function judgeScenario(scenario: Scenario, form: Form): Promise<RoundReport> {
  const windows = form === 'short' ? SHORT_WINDOWS : undefined;
  return judgeAndStop(scenario, [
    compareCounters,
    (judged) => compareBreakdowns(judged, windows),
    compareEvents,
  ]);
}
