import { compareBreakdowns, compareCounters, type Judged } from '../../support/compare.ts';
import { during, type RunningLoad } from '../../support/during.ts';
import type { Ledger } from '../../support/ledger.ts';
import type { ArmedProxy } from '../../support/proxy/armed-proxy.ts';
import { createLosses, SWALLOWED } from '../../support/proxy/losses.ts';
import type { Fault } from '../../support/proxy/tcp-proxy.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { compareServedRows } from '../../support/stored-events.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { type FaultPromise, type RoundReport, roundSeed } from '../promise.ts';
import { startWorkload } from '../workload.ts';
import { type OutageScenario, openOutageScenario, warehouseUrl } from './outage-scenario.ts';

/** Rounds take turns between the hops: 20 lost responses on each in the short form, 500 in the long one. */
const RESPONSES_LOST_PER_ROUND = { short: 20, long: 25 };
const ROUND_PATIENCE_MS = 300_000;

/** Promise 5: a request whose response is lost on the way took effect once, and its retry says so. */
export const unknownOutcomes: FaultPromise = {
  promises: [5],
  title: 'responses are lost between client and data plane, and between aggregator and ClickHouse',
  rounds: { short: 2, long: 40 },
  async open({ seed, form }) {
    const scenario = await openOutageScenario();
    return {
      round(number) {
        const random = createRandom(roundSeed(seed, number));
        const round = { seed: roundSeed(seed, number), run: `u${seed}-${number}`, random, form };
        return number % 2 === 0
          ? loseClientsResponses(scenario, round)
          : loseInsertsResponses(scenario, round);
      },
      judge: () => judge(scenario),
      close: scenario.close,
    };
  },
};

interface Round {
  seed: number;
  run: string;
  random: Random;
  form: 'short' | 'long';
}

/** Long enough that copies of the request, on other connections, overtake its response. */
const LATE: Fault = { kind: 'delay', ms: 300 };
/** What a hanging connection costs: the client's patience, or an insert's. */
const RARE: Fault[] = [{ kind: 'hang' }];

function kindsOf(form: Round['form']): Fault[] {
  const often: Fault[] = [...SWALLOWED, { kind: 'lose' }, LATE];
  return form === 'short' ? often : [...often, ...often, ...often, ...RARE];
}

function planOf({ form, random }: Round, name: string, hop: ArmedProxy) {
  return { hop, name, random, kinds: kindsOf(form), count: RESPONSES_LOST_PER_ROUND[form] };
}

async function loseClientsResponses(scenario: OutageScenario, round: Round): Promise<RoundReport> {
  const { ledger } = scenario.judged;
  const before = learntFromRetries(ledger);
  const losses = createLosses({
    ...planOf(round, 'Client', scenario.hops.client),
    share: 0.3,
    among: (request) => request.includes('POST /api/v1/usage/events'),
  });
  const load = { seed: round.seed, run: round.run, past: scenario.past, senders: 6, batchItems: 50 };
  const { summary } = await during(startWorkload(scenario.throughProxy, load), losses.enough);
  const learnt = learntFromRetries(ledger) - before;
  const problems = [...ledger.problems(), ...(await compareCounters(scenario.judged))];
  if (learnt === 0) problems.push('no retry returned a duplicate');
  return { counts: { ...losses.counts(), ...summary, eventsLearntFromRetries: learnt }, problems };
}

/** Events whose `created` was lost on the way: every response that arrived said `duplicate`. */
function learntFromRetries(ledger: Ledger): number {
  return [...ledger.events()].filter(({ created }) => created === 0).length;
}

const INSERT = /insert_deduplication_token=([^& ]+)/;

async function loseInsertsResponses(scenario: OutageScenario, round: Round): Promise<RoundReport> {
  const { judged, hops } = scenario;
  const tokens = createTokens();
  const losses = createLosses({
    ...planOf(round, 'Warehouse', hops.warehouse),
    share: 0.4,
    among: (request) => INSERT.test(request.toString('latin1')),
    onRequest: tokens.seen,
  });
  const senders = { senders: 2, batchItems: 20, pauseMs: INSERTS_PAUSE_MS };
  const workload = startWorkload(judged, {
    seed: round.seed,
    run: round.run,
    past: scenario.past,
    ...senders,
  });
  const { summary } = await during(workload, () => {
    return during(keepReading(judged), losses.enough);
  });
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareServedRows(warehouseUrl(scenario), judged.ledger)),
    ...tokens.problems(),
  ];
  return { counts: { ...losses.counts(), ...summary }, problems };
}

/** Just enough that an insert is always due. */
const INSERTS_PAUSE_MS = 20;

/** Strong reads, one after the other: who waits cuts the pause short that the load makes after a failure. */
function keepReading(judged: Judged): RunningLoad<void> {
  let stopping = false;
  const reading = (async () => {
    while (!stopping) await waitUntilCounted(judged, ROUND_PATIENCE_MS);
  })();
  reading.catch(() => undefined); // reported by `stop`
  return {
    stop: () => {
      stopping = true;
      return reading;
    },
  };
}

/** An insert whose response was lost has to come again under its own token. */
function createTokens() {
  const withoutResponse = new Set<string>();
  return {
    seen(request: Buffer, fault: Fault | undefined): void {
      const [, token] = INSERT.exec(request.toString('latin1')) ?? [];
      if (token === undefined) return;
      if (fault && fault.kind !== 'delay') withoutResponse.add(token);
      else withoutResponse.delete(token);
    },
    problems: () => [...withoutResponse].map((token) => `the insert ${token} was not sent again`),
  };
}

async function judge(scenario: OutageScenario): Promise<RoundReport> {
  const { judged } = scenario;
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged, ['all'], ['user', '$day'])),
    ...(await compareServedRows(warehouseUrl(scenario), judged.ledger)),
  ];
  return { counts: { eventsAcknowledged: judged.ledger.size() }, problems };
}
