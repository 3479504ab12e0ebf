import { setTimeout as pass } from 'node:timers/promises';
import { during } from '../../support/during.ts';
import { percentile } from '../../support/freshness-probe.ts';
import { seenInTime } from '../../support/in-time.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { Behaviour, ReceivedEvent } from '../../support/webhook-receiver.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import {
  type CustomerWorkload,
  createNotifiedLedger,
  type NotifiedLedger,
  openWebhookScenario,
  register,
  startCustomerWorkload,
  type WebhookScenario,
} from './webhook-scenario.ts';

/**
 * Promise 12: rounds of changes, and a kill -9 of the control side while it delivers them to three endpoints:
 * one that takes everything at once, one of moods, and one that is slow. Nothing is missing, ids and bytes
 * stay, nothing is sent twice but what was in flight, and the first attempt comes soon.
 */
export const deliveryKilled: FaultPromise = {
  promises: [12],
  title: 'the control side is killed while it delivers',
  rounds: { short: 5, long: 100 },
  async open(options) {
    const ledger = createNotifiedLedger(ENDPOINTS);
    const moods = createMoods(ledger, createRandom(options.seed));
    const opened = await openWebhookScenario(options, { connections: 2 * SENDERS, ...moods });
    for (const endpoint of ENDPOINTS) await register(opened.api, opened.receiver.url(endpoint));
    const scenario: Scenario = { ...opened, ledger, kills: [] };
    return { round: (round) => killRound(scenario, round), judge: () => judge(scenario) };
  },
};

const ENDPOINTS = ['well', 'moody', 'late'];
const SENDERS = 6;
const ACKNOWLEDGED_BEFORE = { least: 30, most: 90 };
const ACKNOWLEDGED_AFTER = 30;
const PATIENCE = { timeoutMs: 90_000 };
/** An attempt that hangs, and the pause before the second one, are some 20 s. */
const ALL_TAKEN = { timeoutMs: 45_000, everyMs: 200 };
/** The supervisor lets a child that dies again at once wait longer. */
const WELL_AFTER_MS = 1_100;
const FIRST_ATTEMPT_P99_MS_MAX = 2_000;
const MOODY_SHARE = 0.3;
/** An attempt hangs for 15 s, and five of them are all that an endpoint gets. */
const HANGS_MAX = 2;
const LATE_MS_MAX = 1_500;
/** Five at a time: a hundred a second. */
const SLOW_MS_MAX = 100;

/** Only the first request for an event meets a mood: the third attempt would come minutes later. */
function createMoods(ledger: NotifiedLedger, random: Random) {
  let hangs = 0;
  const moods: Array<() => Behaviour> = [
    () => ({ status: 500 }),
    () => ({ status: 302 }),
    () => 'reset',
    () => ({ status: 200, lateMs: random.below(LATE_MS_MAX) }),
    () => {
      hangs += 1;
      return hangs > HANGS_MAX ? 'reset' : 'hang';
    },
  ];
  return {
    onEvent(event: ReceivedEvent): Behaviour {
      const isFirst = !ledger.knows(event.endpoint, event.eventId);
      ledger.received(event);
      if (event.endpoint === 'late') return { status: 204, lateMs: random.below(SLOW_MS_MAX) };
      const isMoody = event.endpoint === 'moody' && isFirst && random.chance(MOODY_SHARE);
      return isMoody ? random.pick(moods)() : { status: 200 };
    },
    onResponded: ledger.responded,
  };
}

interface Scenario extends WebhookScenario {
  ledger: NotifiedLedger;
  kills: Kill[];
}

interface Kill {
  atMs: number;
  /** The API responds again. */
  backAtMs: number;
}

async function killRound(
  { instance, api, ledger, kills }: Scenario,
  { random, run }: Round,
): Promise<RoundReport> {
  const workload = startCustomerWorkload(api, { run, senders: SENDERS, onCreated: ledger.acknowledged });
  const { done, summary } = await during(workload, async () => {
    await pass(WELL_AFTER_MS);
    await untilResponse(workload, ACKNOWLEDGED_BEFORE.least + random.below(ACKNOWLEDGED_BEFORE.most));
    const atMs = Date.now();
    await instance.kill('control side');
    const responded = workload.responded();
    await untilResponse(workload, responded + 1);
    const backAtMs = Date.now();
    kills.push({ atMs, backAtMs });
    await untilResponse(workload, responded + ACKNOWLEDGED_AFTER);
    return { backAfterMs: backAtMs - atMs };
  });
  return { counts: { killsOfControlSide: 1, ...summary }, peaks: done, problems: [] };
}

async function untilResponse(workload: CustomerWorkload, count: number): Promise<void> {
  await seenInTime(() => workload.responded() >= count || undefined, PATIENCE, `${count} customers`);
}

async function judge({ ledger, kills }: Scenario): Promise<RoundReport> {
  // What is still missing then is named in the problems.
  await seenInTime(() => ledger.isComplete() || undefined, ALL_TAKEN, 'all events').catch(() => undefined);
  const { counts, problems } = ledger.judge(({ takenAtMs = 0 }) => isOfKill(takenAtMs, kills));
  const { undisturbedMs, afterKillMs } = delaysOf(ledger, kills);
  const firstAttemptP99Ms = Math.round(percentile(undisturbedMs, 99));
  const firstAttemptAfterKillMs = Math.round(Math.max(0, ...afterKillMs));
  const late = `first attempts came after ${firstAttemptP99Ms} ms (p99), not ${FIRST_ATTEMPT_P99_MS_MAX}`;
  return {
    counts,
    peaks: { firstAttemptP99Ms, firstAttemptAfterKillMs },
    problems: [...problems, ...(firstAttemptP99Ms > FIRST_ATTEMPT_P99_MS_MAX ? [late] : [])],
  };
}

/**
 * An attempt that had its response, and whose outcome was not recorded before the kill, is repeated. It is
 * written within some 50 ms; a busy machine takes longer.
 */
const WRITTEN_WITHIN_MS = 2_000;
/** The kill is recorded once the process has ended; its last request may get its response after that. */
const CLOCKS_APART_MS = 2_000;

function isOfKill(takenAtMs: number, kills: readonly Kill[]): boolean {
  return kills.some(({ atMs }) => atMs > takenAtMs - CLOCKS_APART_MS && atMs < takenAtMs + WRITTEN_WITHIN_MS);
}

/** Of the healthy endpoint: from an event, or the recovery of a kill in between, to the first attempt. */
function delaysOf(ledger: NotifiedLedger, kills: readonly Kill[]) {
  const delays: Record<'undisturbedMs' | 'afterKillMs', number[]> = { undisturbedMs: [], afterKillMs: [] };
  for (const { createdAtMs, requests } of ledger.all().filter(({ endpoint }) => endpoint === 'well')) {
    const firstAtMs = requests[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const kill = kills.find(({ atMs }) => atMs >= createdAtMs && atMs <= firstAtMs);
    if (kill) delays.afterKillMs.push(firstAtMs - kill.backAtMs);
    else delays.undisturbedMs.push(firstAtMs - createdAtMs);
  }
  return delays;
}
