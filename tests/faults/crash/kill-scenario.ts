import { performance } from 'node:perf_hooks';
import { setTimeout as pass } from 'node:timers/promises';
import { signal } from '../../../infra/platform/process-identity.ts';
import { compareBreakdowns, compareCounters, compareEvents } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { type PlannedRequest, singleRequestOf } from '../../support/generator.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { itemOf, meanEvent } from '../../support/planned-event.ts';
import type { Random } from '../../support/random.ts';
import { sendAll } from '../../support/send.ts';
import { type JudgedInstance, judgeAndStop, startJudged } from '../judged-instance.ts';
import type { FaultOptions, Form, RoundReport } from '../promise.ts';
import { postRequest, readRawResponse } from '../raw-socket.ts';
import { sendOptions, sendReplays, type Workload } from '../workload.ts';
import { startFiller } from './filler.ts';
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
 * Many ranges are to pass under the load: a kill should find each of their steps. At level info the log
 * states which were cut off (idle-kills.ts).
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

/** Three of four kills come with a response, the others at any time. */
const ANYTIME_EVERY = 4;

export async function killDataPlane(kill: Kill): Promise<SeenOfKill> {
  const { scenario, workload, random, nth } = kill;
  const { instance, judged } = scenario;
  await scenario.moreResponses(20 + random.below(300));
  const pid = instance.pid('data plane');
  const isAnytime = nth % ANYTIME_EVERY === ANYTIME_EVERY - 1;
  const { probe, responded } = await (isAnytime ? killAnytime(kill, pid) : killWithResponse(kill, pid));

  const killedAt = performance.now();
  await sendAll([probe], sendOptions(judged));
  scenario.restartedAt = performance.now();
  mustBeAnother(instance, 'data plane', pid);
  const replaysOfAcknowledged = await sendReplays(judged, [...workload.recent(), probe], random);
  const counts = { replaysOfAcknowledged, killsWithResponse: responded ? 1 : 0 };
  return { counts, peaks: { firstResponseMs: Math.round(scenario.restartedAt - killedAt) } };
}

/** The first request to the process that comes after. */
interface Probed {
  probe: PlannedRequest;
  /** It was acknowledged by the process that was killed with the response. */
  responded: boolean;
}

async function killAnytime({ workload, random }: Kill, pid: number): Promise<Probed> {
  const [newest] = workload.recent().slice(-1);
  if (!newest) throw new Error('no request received a response');
  await pass(random.below(40));
  if (!signal(pid, 'SIGKILL')) throw new Error(`process ${pid} had ended before it was killed`);
  return { probe: newest, responded: false };
}

/**
 * A kill at a random time hits the half millisecond between write and response once in a thousand kills. So
 * the kill comes with the response itself, while the server has more to do than to write: a response that
 * came too early is then still ahead of its write.
 */
async function killWithResponse({ scenario, workload, random, nth }: Kill, pid: number): Promise<Probed> {
  const { instance, judged, killer } = scenario;
  const port = Number(new URL(instance.origin).port);
  const key = instance.keys().live.secret;
  const scope = { world: judged.world, random, nowMs: Date.now(), responsesShowEvents: true };
  const known = workload.recent().flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  const items = Array.from({ length: FILLER_ITEMS }, () => itemOf(random.pick(known), scope).json);
  const replays = postRequest('/api/v1/usage/events/batch', key, `{"events":[${items.join(',')}]}`);
  const filler = await startFiller(port, replays);

  const event = meanEvent(`kill-${random.below(1e9)}-${nth}`, scope);
  const request = singleRequestOf(event, scope);
  const named = `Idempotency-Key: ${request.items[0]?.echoedKey}`;
  const raw = postRequest('/api/v1/usage/events', key, request.body, [named]);
  const requestedAtMs = Date.now();
  const { done: arrived } = await during(filler, () => killer.fire({ port, pid, request: raw }));
  const response = readRawResponse(arrived);
  if (response) judged.ledger.responded(request, { ...response, requestedAtMs, respondedAtMs: Date.now() });
  else judged.ledger.withoutResponse(request);
  return { probe: request, responded: response?.status === 201 };
}

const FILLER_ITEMS = 500;
