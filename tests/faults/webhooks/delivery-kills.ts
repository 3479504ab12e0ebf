import { setTimeout as pass } from 'node:timers/promises';
import { during } from '../../support/during.ts';
import { percentile } from '../../support/freshness-probe.ts';
import { seenInTime } from '../../support/in-time.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { Behaviour, ReceivedEvent } from '../../support/webhook-receiver.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { type CustomerWorkload, startCustomerWorkload } from './customer-workload.ts';
import { createNotifiedLedger, type NotifiedLedger } from './notified-ledger.ts';
import { openWebhookScenario, register, type WebhookScenario } from './webhook-scenario.ts';

/**
 * Promise 12: rounds of changes, and a kill -9 of the control side while it delivers them to three endpoints:
 * one that takes everything at once, one of moods, and one that is slow. Nothing is missing, ids and bytes
 * stay, nothing is sent twice but what was in flight, and the first attempt comes soon.
 */
export const deliveryKilled: FaultPromise = {
  promises: [12],
  title: 'the control side is killed while it delivers',
  rounds: { short: 5, long: 100 },
  async open({ seed }) {
    const ledger = createNotifiedLedger(ENDPOINTS);
    const moods = createMoods(ledger, createRandom(seed));
    const scenario = await openWebhookScenario({ connections: 2 * SENDERS, ...moods });
    for (const endpoint of ENDPOINTS) await register(scenario.api, scenario.receiver.url(endpoint));
    return {
      round: (number) => killRound({ ...scenario, ledger }, { seed, number }),
      judge: () => judge(ledger),
      close: scenario.close,
    };
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

type Scenario = WebhookScenario & { ledger: NotifiedLedger };

async function killRound(
  { instance, api, ledger }: Scenario,
  { seed, number }: { seed: number; number: number },
): Promise<RoundReport> {
  const random = createRandom(roundSeed(seed, number));
  const run = `w${seed}-${number}-${Date.now()}`;
  const workload = startCustomerWorkload(api, { run, senders: SENDERS, onCreated: ledger.acknowledged });
  const { done, summary } = await during(workload, async () => {
    await pass(WELL_AFTER_MS);
    await untilResponse(workload, ACKNOWLEDGED_BEFORE.least + random.below(ACKNOWLEDGED_BEFORE.most));
    const atMs = Date.now();
    await instance.kill('control side');
    const responded = workload.responded();
    await untilResponse(workload, responded + 1);
    const backAtMs = Date.now();
    ledger.killed({ atMs, backAtMs });
    await untilResponse(workload, responded + ACKNOWLEDGED_AFTER);
    return { backAfterMs: backAtMs - atMs };
  });
  return { counts: { killsOfControlSide: 1, ...summary }, peaks: done, problems: [] };
}

async function untilResponse(workload: CustomerWorkload, count: number): Promise<void> {
  await seenInTime(() => workload.responded() >= count || undefined, PATIENCE, `${count} customers`);
}

async function judge(ledger: NotifiedLedger): Promise<RoundReport> {
  const isAllTaken = () => ENDPOINTS.every((endpoint) => ledger.missing(endpoint).length === 0);
  // What is still missing then is named in the problems.
  await seenInTime(() => isAllTaken() || undefined, ALL_TAKEN, 'all events').catch(() => 0);
  const { counts, problems } = ledger.judge();
  const { undisturbedMs, afterKillMs } = ledger.delays('well');
  const firstAttemptP99Ms = Math.round(percentile(undisturbedMs, 99));
  const firstAttemptAfterKillMs = Math.round(Math.max(0, ...afterKillMs));
  const late = `first attempts came after ${firstAttemptP99Ms} ms (p99), not ${FIRST_ATTEMPT_P99_MS_MAX}`;
  return {
    counts,
    peaks: { firstAttemptP99Ms, firstAttemptAfterKillMs },
    problems: [...problems, ...(firstAttemptP99Ms > FIRST_ATTEMPT_P99_MS_MAX ? [late] : [])],
  };
}
