import { setTimeout as pass } from 'node:timers/promises';
import {
  compareBreakdowns,
  compareCounters,
  compareEvents,
  compareFolded,
  type Judged,
} from '../../support/compare.ts';
import {
  type DistributedInstallation,
  type Hops,
  type InstallationOptions,
  startInstallation,
} from '../../support/distributed-installation.ts';
import { during } from '../../support/during.ts';
import { planRequests } from '../../support/generator.ts';
import { seenInTime } from '../../support/in-time.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { createLosses, SWALLOWED } from '../../support/proxy/losses.ts';
import { sendAll } from '../../support/send.ts';
import { judgeAll, problemsOf } from '../judged-instance.ts';
import { type FaultOptions, type FaultPromise, type Round, type RoundReport, roundOf } from '../promise.ts';
import { sendOptions, startWorkload, type WorkloadSummary } from '../workload.ts';
import { FAULTS, type Fault } from './faults.ts';

/**
 * The main workload in distributed mode: every response, counter, breakdown and stored event against the
 * ledger.
 */
export const distributedExact: FaultPromise = {
  promises: [2, 3],
  title: 'a distributed installation counts exactly',
  rounds: { short: 1, long: 1 },
  lacks: () => lacking('ownServers'),
  async open(options) {
    const { judged } = await open(options, { processes: 2, connections: EXACT.connections });
    return {
      async round({ seed, run }) {
        const plan = { seed, run, items: EXACT.items[options.form], nowMs: Date.now(), world: judged.world };
        const { connections } = EXACT;
        const sent = await sendAll(planRequests(plan), { ...sendOptions(judged), connections });
        const comparisons = [compareCounters, (all: Judged) => compareBreakdowns(all), compareFolded];
        const problems = await problemsOf(judged, ...comparisons, compareEvents);
        return { counts: { itemsSent: sent.items, requestsRepeated: sent.repeated }, problems };
      },
    };
  },
};

const EXACT = { items: { short: 20_000, long: 200_000 }, connections: 12 };

async function open({ onEnd }: FaultOptions, how: InstallationOptions): Promise<DistributedInstallation> {
  const installation = await startInstallation(how);
  onEnd(installation.close);
  return installation;
}

/**
 * Two processes of each role on a broker, a key store, Postgres and ClickHouse. Any of them is killed under
 * load, each store hangs, and in the end the key store loses all it had.
 */
export const distributedFaults: FaultPromise = {
  promises: [1, 2, 4, 5, 8],
  name: 'distributed',
  title: 'any process of a distributed installation is killed, and any store hangs',
  rounds: { short: 4, long: 42 },
  lacks: () => lacking('ownServers'),
  async open(options) {
    const { form, seed, say } = options;
    const installation = await open(options, { processes: 2, connections: CONNECTIONS });
    const scenario: Scenario = { installation, form };
    return {
      round(round) {
        const fault = FAULTS[round.number % FAULTS.length] ?? FAULTS[0];
        if (!fault) throw new Error('there is no fault to inflict');
        say(fault.counted);
        return faultRound(scenario, fault, round);
      },
      judge: () => judge(scenario, { ...roundOf(seed, 0), run: 'wiped' }),
    };
  },
};

const CONNECTIONS = 16;
const HANG_MS = { short: 2_000, long: 30_000 };
const LOAD = { senders: 3, batchItems: 50, pauseMs: 20 };
/** The load is to be on its way before anything is done to it. */
const UNDER_WAY = { timeoutMs: 30_000 };
const AFTERWARDS_MS = 500;

interface Scenario extends Pick<FaultOptions, 'form'> {
  installation: DistributedInstallation;
}

async function faultRound(scenario: Scenario, fault: Fault, round: Round): Promise<RoundReport> {
  const { installation, form } = scenario;
  const problems: string[] = [];
  let slowestRejectionMs = 0;
  const meanwhile = async () => {
    if (!fault.stopsUsage) return;
    const { status, tookMs } = await sendWhileStopped(installation, round.run);
    slowestRejectionMs = Math.round(tookMs);
    if (status !== 503) problems.push(`a store hangs, and usage returns ${status}`);
    if (tookMs > REJECTED_WITHIN_MS) problems.push(`a rejection took ${tookMs} ms`);
  };
  const how = { nth: Math.floor(round.number / FAULTS.length), hangMs: HANG_MS[form], meanwhile };
  const summary = await underLoad(scenario, round, () => fault.inflict(installation, how));
  // The short form waits for the end: a comparison takes as long as one of its rounds.
  const comparisons = form === 'long' ? [compareCounters] : [];
  problems.push(...(await problemsOf(installation.judged, ...comparisons)));
  return { counts: { ...summary, [fault.counted]: 1 }, peaks: { slowestRejectionMs }, problems };
}

async function underLoad(
  { installation }: Scenario,
  round: Round,
  act: () => Promise<void>,
): Promise<WorkloadSummary> {
  const workload = startWorkload(installation.judged, round, LOAD);
  const { summary } = await during(workload, async () => {
    await seenInTime(() => workload.recent().length > 0 || undefined, UNDER_WAY, 'the load to begin');
    await act();
    await pass(AFTERWARDS_MS);
  });
  return summary;
}

/** Promised is a second; the rest is for a machine that does all of this at once. */
const REJECTED_WITHIN_MS = 4_000;
const NOTICED_MS = 200;

/** Neither a 2xx for what is nowhere nor a client that waits for a store that hangs. */
async function sendWhileStopped({ judged }: DistributedInstallation, run: string) {
  await pass(NOTICED_MS);
  const [customer] = judged.world.customers;
  const body = JSON.stringify({ customerId: customer?.id, meterId: 'probes', value: 0 });
  const requestedAt = performance.now();
  const headers = { 'idempotency-key': `${run}-probe` };
  const response = await judged.api.call('POST', '/usage/events', { body, headers }).catch(() => undefined);
  return { status: response?.status, tookMs: performance.now() - requestedAt };
}

/**
 * First all that is promised. Then the key store loses what it had: labels may err from there on, sums may
 * not.
 */
async function judge(scenario: Scenario, round: Round): Promise<RoundReport> {
  const { judged, redis } = scenario.installation;
  const before = await judgeAll(judged, compareCounters, (all) => compareBreakdowns(all), compareEvents);
  if (before.problems.length > 0) return before;
  const summary = await underLoad(scenario, round, () => redis.restart({ wiped: true }));
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

/**
 * Promise 5 in distributed mode: broker and key store have processed a request, and ingest never receives
 * the response. It must not guess the outcome: neither free the key nor count the event twice.
 */
export const distributedResponsesLost: FaultPromise = {
  promises: [5],
  name: 'distributed-responses',
  title: 'responses of broker and key store are lost on their way to ingest',
  rounds: { short: 1, long: 20 },
  lacks: () => lacking('ownServers'),
  async open(options) {
    const { judged, hops } = await open(options, {
      ...{ processes: 1, but: { ingest: 2, delivery: 0 } },
      ...{ connections: 2 * RARE_LOAD.senders, throughProxies: true, environment: RARE_INSERTS },
    });
    if (!hops) throw new Error('the installation has no proxies');
    const someBreakdowns = (all: Judged) => compareBreakdowns(all, ['all'], ['user', '$day']);
    return {
      async round(round) {
        const losses = HOPS.map(([hop, name, among]) =>
          createLosses({
            ...{ hop: hops[hop], name, random: round.random, among, share: 0.04 },
            count: RESPONSES_LOST_PER_ROUND[options.form],
            kinds: [...SWALLOWED, { kind: 'lose' }],
            // A connection that stays silent is to be given up.
            firstly: { kind: 'hang' },
          }),
        );
        const workload = startWorkload(judged, round, RARE_LOAD);
        const { summary } = await during(workload, () => Promise.all(losses.map(({ enough }) => enough())));
        return {
          counts: Object.assign({}, summary, ...losses.map(({ counts }) => counts())),
          problems: await problemsOf(judged, compareCounters),
        };
      },
      judge: () => judgeAll(judged, compareCounters, someBreakdowns, compareEvents),
    };
  },
};

/** On each of the two hops: 20 in the short form, 500 in the long one. */
const RESPONSES_LOST_PER_ROUND = { short: 20, long: 25 };

/**
 * A request whose response is lost waits until the claim's lease is over: many clients that each send rarely,
 * so that one loss holds up few.
 */
const RARE_LOAD = { senders: 32, batchItems: 6, pauseMs: 600 };
/** What follows the log is not tested here: fewer and larger inserts. */
const RARE_INSERTS = { LOAD_LINGER_MS: '1000' };

/** A Kafka request begins with its length, 4 bytes, and its API key, 2 bytes. */
const KIND_AT = 4;
const PRODUCE = 0;

/** Requests that change something: records that are produced, and the scripts of claims and confirmations. */
const HOPS: Array<[hop: keyof Hops, name: string, among: (request: Buffer) => boolean]> = [
  ['kafka', 'Kafka', (one) => one.length >= KIND_AT + 2 && one.readUInt16BE(KIND_AT) === PRODUCE],
  ['redis', 'Redis', (one) => one.includes('evalsha')],
];
