import { compareBreakdowns, compareCounters, type Judged } from '../../support/compare.ts';
import { during, type RunningLoad } from '../../support/during.ts';
import type { Ledger } from '../../support/ledger.ts';
import { createLosses, type LossesPlan, SWALLOWED } from '../../support/proxy/losses.ts';
import type { Fault } from '../../support/proxy/tcp-proxy.ts';
import { startSenders } from '../../support/senders.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { judgeAll, problemsOf } from '../judged-instance.ts';
import type { FaultPromise, Form, Round, RoundReport } from '../promise.ts';
import { startWorkload } from '../workload.ts';
import { compareServed, type OutageScenario, openOutageScenario } from './outage-scenario.ts';

/** Rounds take turns between the hops: 20 lost responses on each in the short form, 500 in the long one. */
const RESPONSES_LOST_PER_ROUND = { short: 20, long: 25 };
const ROUND_PATIENCE_MS = 300_000;

/** Promise 5: a request whose response is lost on the way took effect once, and its retry says so. */
export const unknownOutcomes: FaultPromise = {
  promises: [5],
  title: 'responses are lost between client and data plane, and between aggregator and ClickHouse',
  rounds: { short: 2, long: 40 },
  async open(options) {
    const scenario = await openOutageScenario(options);
    const { judged } = scenario;
    return {
      round: (round) => loseResponses(scenario, round, options.form),
      judge: () => judgeAll(judged, compareCounters, compareSomeBreakdowns, compareServed(scenario)),
    };
  },
};

function compareSomeBreakdowns(judged: Judged): Promise<string[]> {
  return compareBreakdowns(judged, ['all'], ['user', '$day']);
}

function loseResponses(scenario: OutageScenario, round: Round, form: Form) {
  const often: Fault[] = [...SWALLOWED, { kind: 'lose' }, LATE];
  const draw = {
    random: round.random,
    kinds: form === 'short' ? often : [...often, ...often, ...often, ...RARE],
    count: RESPONSES_LOST_PER_ROUND[form],
  };
  const lose = round.number % 2 === 0 ? loseClientsResponses : loseInsertsResponses;
  return lose(scenario, round, draw);
}

type Draw = Pick<LossesPlan, 'random' | 'kinds' | 'count'>;

/** Long enough that copies of the request, on other connections, overtake its response. */
const LATE: Fault = { kind: 'delay', ms: 300 };
/** What a hanging connection costs: the client's patience, or an insert's. */
const RARE: Fault[] = [{ kind: 'hang' }];

async function loseClientsResponses(
  { judged, throughProxy, hops }: OutageScenario,
  round: Round,
  draw: Draw,
): Promise<RoundReport> {
  const before = learntFromRetries(judged.ledger);
  const among = (request: Buffer) => request.includes('POST /api/v1/usage/events');
  const losses = createLosses({ ...draw, hop: hops.client, name: 'Client', share: 0.3, among });
  const workload = startWorkload(throughProxy, round, { senders: 6, batchItems: 50 });
  const { summary } = await during(workload, losses.enough);
  const learnt = learntFromRetries(judged.ledger) - before;
  const problems = await problemsOf(judged, compareCounters);
  if (learnt === 0) problems.push('no retry returned a duplicate');
  return { counts: { ...losses.counts(), ...summary, eventsLearntFromRetries: learnt }, problems };
}

/** Events whose `created` was lost on the way: every response that arrived said `duplicate`. */
function learntFromRetries(ledger: Ledger): number {
  return [...ledger.events()].filter(({ created }) => created === 0).length;
}

const INSERT = /insert_deduplication_token=([^& ]+)/;

async function loseInsertsResponses(
  scenario: OutageScenario,
  round: Round,
  draw: Draw,
): Promise<RoundReport> {
  const { judged, hops } = scenario;
  const tokens = createTokens();
  const losses = createLosses({
    ...{ ...draw, hop: hops.warehouse, name: 'Warehouse', share: 0.4 },
    among: (request) => INSERT.test(request.toString('latin1')),
    onRequest: tokens.seen,
  });
  const load = { senders: 2, batchItems: 20, pauseMs: INSERTS_PAUSE_MS };
  const { summary } = await during(startWorkload(judged, round, load), () => {
    return during(keepReading(judged), losses.enough);
  });
  const problems = await problemsOf(judged, compareCounters, compareServed(scenario));
  return { counts: { ...losses.counts(), ...summary }, problems: [...problems, ...tokens.problems()] };
}

/** Just enough that an insert is always due. */
const INSERTS_PAUSE_MS = 20;

/** Strong reads, one after the other: one that waits ends the pause that the load makes after a failure. */
function keepReading(judged: Judged): RunningLoad<void> {
  return startSenders({ senders: 1, send: () => waitUntilCounted(judged, ROUND_PATIENCE_MS) });
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
