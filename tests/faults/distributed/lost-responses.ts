import { compareBreakdowns, compareCounters, compareEvents } from '../../support/compare.ts';
import {
  type DistributedInstallation,
  type Hops,
  startInstallation,
} from '../../support/distributed-installation.ts';
import { during } from '../../support/during.ts';
import { lacking } from '../../support/machine-requirements.ts';
import type { MeantEvent } from '../../support/planned-event.ts';
import { createLosses, SWALLOWED } from '../../support/proxy/losses.ts';
import { createRandom } from '../../support/random.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { startWorkload } from '../workload.ts';

/** On each of the two hops: 20 in the short form, 500 in the long one. */
const RESPONSES_LOST_PER_ROUND = { short: 20, long: 25 };

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
  async open({ seed, form }) {
    const installation = await startInstallation({
      ...{ processes: 1, but: { ingest: 2, delivery: 0 } },
      ...{ connections: CONNECTIONS, throughProxies: true, environment: ENVIRONMENT },
    });
    const scenario: Scenario = { installation, past: [], lostPerRound: RESPONSES_LOST_PER_ROUND[form] };
    return {
      round: (number) =>
        loseResponses(scenario, { seed: roundSeed(seed, number), run: `l${seed}-${number}` }),
      judge: () => judge(installation),
      close: installation.close,
    };
  },
};

/**
 * A request whose response is lost waits until the claim's lease is over: many clients that each send rarely,
 * so that one loss holds up few.
 */
const LOAD = { senders: 32, batchItems: 6, pauseMs: 600 };
const CONNECTIONS = 64;
/** What follows the log is not tested here: fewer and larger inserts. */
const ENVIRONMENT = { LOAD_LINGER_MS: '1000' };

interface Scenario {
  installation: DistributedInstallation;
  /** Events of all rounds, a bounded window, to be replayed. */
  past: MeantEvent[];
  lostPerRound: number;
}

async function loseResponses(
  { installation, past, lostPerRound }: Scenario,
  { seed, run }: { seed: number; run: string },
): Promise<RoundReport> {
  const { judged, hops } = installation;
  if (!hops) throw new Error('the installation has no proxies');
  const random = createRandom(seed);
  const plan = (hop: keyof Hops, name: string) => ({
    ...{ hop: hops[hop], name, random, count: lostPerRound, share: 0.04, among: REQUESTED[hop] },
    kinds: [...SWALLOWED, { kind: 'lose' } as const],
    // A connection that stays silent is to be given up.
    firstly: { kind: 'hang' } as const,
  });
  const losses = [createLosses(plan('kafka', 'Kafka')), createLosses(plan('redis', 'Redis'))];
  const workload = startWorkload(judged, { ...LOAD, seed, run, past });
  const { summary } = await during(workload, async () => {
    await Promise.all(losses.map(({ enough }) => enough()));
  });
  return {
    counts: Object.assign({}, summary, ...losses.map(({ counts }) => counts())),
    problems: [...judged.ledger.problems(), ...(await compareCounters(judged))],
  };
}

/** A Kafka request begins with its length, 4 bytes, and its API key, 2 bytes. */
const KIND_AT = 4;
const PRODUCE = 0;

/** What changes something: records that are produced, and the scripts of claims and confirmations. */
const REQUESTED: Record<keyof Hops, (request: Buffer) => boolean> = {
  kafka: (request) => request.length >= KIND_AT + 2 && request.readUInt16BE(KIND_AT) === PRODUCE,
  redis: (request) => request.includes('evalsha'),
};

async function judge({ judged }: DistributedInstallation): Promise<RoundReport> {
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged, ['all'], ['user', '$day'])),
    ...(await compareEvents(judged)),
  ];
  return { counts: { eventsAcknowledged: judged.ledger.size() }, problems };
}
