import { poll } from '../../../infra/poll.ts';
import { getPatiently } from '../../api.ts';
import { compareBreakdowns, compareCounters, type Judged } from '../../compare.ts';
import type { Ledger } from '../../ledger.ts';
import { createRandom, type Random } from '../../random.ts';
import { type RoundReport, roundSeed, type TorturePromise } from '../promise.ts';
import { type DrawnFaults, drawFaults } from '../proxy/draw-faults.ts';
import type { Fault } from '../proxy/tcp-proxy.ts';
import { startStorm } from '../storm.ts';
import { type AwayScene, type Hop, openAwayScene } from './away-scene.ts';
import { compareServedRows } from './stored-counts.ts';

/** Rounds take turns between the hops: 20 faults on each in the short form, 500 in the long one. */
const FAULTS_PER_ROUND = { short: 20, long: 25 };
const ROUND_PATIENCE_MS = 300_000;

/** Promise 5: a request whose answer is lost on the way was done once, and its retry says so. */
export const unknownOutcomes: TorturePromise = {
  promises: [5],
  title: 'answers are lost between client and data plane, and between aggregator and ClickHouse',
  rounds: { short: 2, long: 40 },
  async open({ seed, form }) {
    const scene = await openAwayScene();
    return {
      round(number) {
        const random = createRandom(roundSeed(seed, number));
        const round = { seed: roundSeed(seed, number), run: `u${seed}-${number}`, random, form };
        return number % 2 === 0 ? loseClientsAnswers(scene, round) : loseInsertsAnswers(scene, round);
      },
      judge: () => judge(scene),
      close: scene.close,
    };
  },
};

interface Round {
  seed: number;
  run: string;
  random: Random;
  form: 'short' | 'long';
}

/** What a hanging connection costs: the client's patience, or an insert's. */
const RARE: Fault[] = [{ kind: 'hang' }];
const SWALLOWED: Fault[] = [
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'cut', bytes: 30 },
  { kind: 'cut', bytes: 400 },
];

function kindsOf(form: Round['form'], more: Fault[]): Fault[] {
  const often = [...SWALLOWED, ...more];
  return form === 'short' ? often : [...often, ...often, ...often, ...RARE];
}

async function loseClientsAnswers(
  scene: AwayScene,
  { form, random, seed, run }: Round,
): Promise<RoundReport> {
  const { ledger } = scene.judged;
  const before = learntFromRetries(ledger);
  const faults = drawFaults({
    ...{ random, count: FAULTS_PER_ROUND[form], share: 0.3 },
    among: (request) => request.includes('POST /api/v1/usage/events'),
    kinds: kindsOf(form, [{ kind: 'lose' }]),
  });
  const storm = startStorm(scene.throughProxy, { seed, run, past: scene.past, lanes: 6, batchItems: 50 });
  const lost = await drain(scene, 'client', faults);
  const summary = await storm.stop();
  const learnt = learntFromRetries(ledger) - before;
  const problems = [...ledger.problems(), ...(await compareCounters(scene.judged))];
  if (learnt === 0) problems.push('no retry was answered as a duplicate');
  return { counts: { ...lost(), ...summary, eventsLearntFromRetries: learnt }, problems };
}

/** Events whose `created` was lost on the way: every answer that arrived said `duplicate`. */
function learntFromRetries(ledger: Ledger): number {
  return [...ledger.events()].filter(({ created }) => created === 0).length;
}

const INSERT = /insert_deduplication_token=([\w-]+)/;

async function loseInsertsAnswers(
  scene: AwayScene,
  { form, random, seed, run }: Round,
): Promise<RoundReport> {
  const { ledger } = scene.judged;
  const faults = drawFaults({
    ...{ random, count: FAULTS_PER_ROUND[form], share: 0.4 },
    among: (request) => INSERT.test(request.toString('latin1')),
    kinds: kindsOf(form, [{ kind: 'lose' }]),
  });
  const tokens = watchTokens(faults);
  const storm = startStorm(scene.judged, { seed, run, past: scene.past, lanes: 2, batchItems: 20 });
  const reads = keepReading(scene.judged);
  const lost = await drain(scene, 'warehouse', { fault: tokens.fault, left: faults.left });
  await reads.stop();
  const summary = await storm.stop();
  const problems = [
    ...ledger.problems(),
    ...(await compareCounters(scene.judged)),
    ...(await compareServedRows(scene.stores.warehouse.address(), ledger)),
    ...tokens.problems(),
  ];
  return { counts: { ...lost(), ...summary }, problems };
}

/** Strong reads, one after the other: who waits cuts the pause short that the load makes after a failure. */
function keepReading({ api, world }: Judged): { stop(): Promise<void> } {
  let stopping = false;
  const path = `/usage/${world.customers[0]?.id}/api_calls?consistency=strong`;
  const reading = (async () => {
    while (!stopping) await getPatiently(api, path, ROUND_PATIENCE_MS);
  })();
  reading.catch(() => undefined); // told by `stop`
  return {
    stop: () => {
      stopping = true;
      return reading;
    },
  };
}

/** An insert whose answer was lost has to come again under its own token. */
function watchTokens(faults: DrawnFaults) {
  const unanswered = new Set<string>();
  return {
    fault(request: Buffer): Fault | undefined {
      const fault = faults.fault(request);
      const [, token] = INSERT.exec(request.toString('latin1')) ?? [];
      if (token === undefined) return fault;
      if (fault) unanswered.add(token);
      else unanswered.delete(token);
      return fault;
    },
    problems: () => [...unanswered].map((token) => `the insert ${token} was not sent again`),
  };
}

/** Waits until each fault of the hop is drawn. Gives what to ask for what was lost, once all is answered. */
async function drain(
  scene: AwayScene,
  hop: Hop,
  { fault, left }: DrawnFaults,
): Promise<() => Record<string, number>> {
  const proxy = scene.hops[hop];
  const before = proxy.done();
  proxy.arm(fault);
  const none = () => (left() === 0 ? true : undefined);
  const over = await poll(none, { timeoutMs: ROUND_PATIENCE_MS, everyMs: 5 });
  if (!over) throw new Error(`${left()} faults of the hop ${hop} found no request`);
  return () => {
    const [answers, requests] = [answersLost(proxy.done()), proxy.done().lose];
    return {
      [`answersLostOf${NAMES[hop]}`]: answers - answersLost(before),
      [`requestsLostOf${NAMES[hop]}`]: requests - before.lose,
    };
  };
}

function answersLost({ swallow, cut, hang }: ReturnType<AwayScene['hops'][Hop]['done']>): number {
  return swallow + cut + hang;
}

const NAMES: Record<Hop, string> = { client: 'Client', warehouse: 'Warehouse', postgres: 'Postgres' };

async function judge({ judged, stores }: AwayScene): Promise<RoundReport> {
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged, ['all'], ['user', '$day'])),
    ...(await compareServedRows(stores.warehouse.address(), judged.ledger)),
  ];
  return { counts: { eventsAcknowledged: judged.ledger.size() }, problems };
}
