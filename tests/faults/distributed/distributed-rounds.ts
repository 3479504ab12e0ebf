import { setTimeout as pass } from 'node:timers/promises';
import { compareBreakdowns, compareCounters, compareEvents } from '../../support/compare.ts';
import { type DistributedInstallation, startInstallation } from '../../support/distributed-installation.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import { lacking } from '../../support/machine-requirements.ts';
import type { MeantEvent } from '../../support/planned-event.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { startWorkload, type Workload, type WorkloadSummary } from '../workload.ts';
import { FAULTS, type Fault } from './faults.ts';

/**
 * Past one machine: two processes of each role on a broker, a key store, Postgres and ClickHouse. Any of them
 * is killed under load, each store hangs, and in the end the key store loses all it had.
 */
export const distributedFaults: FaultPromise = {
  promises: [1, 2, 4, 5, 8],
  name: 'distributed',
  title: 'any process of a distributed installation is killed, and any store hangs',
  rounds: { short: 4, long: 42 },
  lacks: () => lacking('ownServers'),
  async open({ seed, form, say }) {
    const installation = await startInstallation({ processes: 2, connections: CONNECTIONS });
    const scenario: Scenario = { installation, past: [], hangMs: HANG_MS[form], form };
    return {
      round(number) {
        const fault = FAULTS[number % FAULTS.length] ?? FAULTS[0];
        if (!fault) throw new Error('there is no fault to inflict');
        say(fault.counted);
        const nth = Math.floor(number / FAULTS.length);
        return faultRound(scenario, { fault, nth, seed: roundSeed(seed, number), run: `d${seed}-${number}` });
      },
      judge: () => judge(scenario, { seed, run: `d${seed}-wiped` }),
      close: installation.close,
    };
  },
};

const CONNECTIONS = 16;
const HANG_MS = { short: 2_000, long: 30_000 };
const LOAD = { senders: 3, batchItems: 50, pauseMs: 20 };
/** The load is to be on its way before anything is done to it. */
const UNDER_WAY = { timeoutMs: 30_000 };
const AFTERWARDS_MS = 500;

interface Scenario {
  installation: DistributedInstallation;
  /** Events of all rounds, a bounded window, to be replayed. */
  past: MeantEvent[];
  hangMs: number;
  form: 'short' | 'long';
}

interface FaultRound {
  fault: Fault;
  nth: number;
  seed: number;
  run: string;
}

async function faultRound(scenario: Scenario, { fault, nth, seed, run }: FaultRound): Promise<RoundReport> {
  const { installation, hangMs, form } = scenario;
  const seen: Seen = { problems: [], responseMs: 0 };
  const meanwhile = () => (fault.stopsUsage ? rejectedInTime(installation, run, seen) : pass(0));
  const summary = await underLoad(scenario, { seed, run }, () =>
    fault.inflict(installation, { nth, hangMs, meanwhile }),
  );
  const problems = [...seen.problems, ...installation.judged.ledger.problems()];
  // The short form waits for the end: a comparison takes as long as one of its rounds.
  if (form === 'long') problems.push(...(await compareCounters(installation.judged)));
  return {
    counts: { ...summary, [fault.counted]: 1 },
    peaks: { slowestRejectionMs: Math.round(seen.responseMs) },
    problems,
  };
}

async function underLoad(
  { installation, past }: Scenario,
  { seed, run }: { seed: number; run: string },
  act: () => Promise<void>,
): Promise<WorkloadSummary> {
  const workload: Workload = startWorkload(installation.judged, { ...LOAD, seed, run, past });
  const { summary } = await during(workload, async () => {
    await seenInTime(() => workload.recent().length > 0 || undefined, UNDER_WAY, 'the load to begin');
    await act();
    await pass(AFTERWARDS_MS);
  });
  return summary;
}

interface Seen {
  problems: string[];
  responseMs: number;
}

/** Promised is a second; the rest is for a machine that does all of this at once. */
const REJECTED_WITHIN_MS = 4_000;
const NOTICED_MS = 200;

/** Neither a 2xx for what is nowhere nor a client that waits for a store that hangs. */
async function rejectedInTime({ judged }: DistributedInstallation, run: string, seen: Seen): Promise<void> {
  await pass(NOTICED_MS);
  const [customer] = judged.world.customers;
  const body = JSON.stringify({ customerId: customer?.id, meterId: 'probes', value: 0 });
  const requestedAt = performance.now();
  const headers = { 'idempotency-key': `${run}-probe` };
  const response = await judged.api.call('POST', '/usage/events', { body, headers }).catch(() => undefined);
  seen.responseMs = performance.now() - requestedAt;
  if (response?.status !== 503) seen.problems.push(`a store hangs, and usage returns ${response?.status}`);
  if (seen.responseMs > REJECTED_WITHIN_MS) seen.problems.push(`a rejection took ${seen.responseMs} ms`);
}

/**
 * First all that is promised. Then the key store loses what it had: labels may err from there on, sums may
 * not.
 */
async function judge(scenario: Scenario, load: { seed: number; run: string }): Promise<RoundReport> {
  const { judged, redis } = scenario.installation;
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged)),
    ...(await compareEvents(judged)),
  ];
  if (problems.length > 0) return { counts: {}, problems };
  const summary = await underLoad(scenario, load, () => redis.restart({ wiped: true }));
  return {
    counts: { ...summary, wipesOfRedis: 1, eventsAcknowledged: judged.ledger.size() },
    problems: [...(await compareCounters(judged)), ...(await stopAll(scenario.installation))],
  };
}

/** An ordinary stop of every process, all at once. */
async function stopAll({ roles }: DistributedInstallation): Promise<string[]> {
  const stops = Object.values(roles)
    .flat()
    .map(async (one) => {
      const exitCode = await one.stop();
      return exitCode === 0 ? [] : [`an ordinary stop of ${one.role} ended with ${exitCode}: ${one.log()}`];
    });
  return (await Promise.all(stops)).flat();
}
