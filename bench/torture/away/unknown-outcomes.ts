import { compareBreakdowns, compareCounters, type Judged } from '../../compare.ts';
import { seenInTime } from '../../in-time.ts';
import type { Ledger } from '../../ledger.ts';
import { createRandom, type Random } from '../../random.ts';
import { waitUntilCounted } from '../../wait-until-counted.ts';
import { type Beside, during } from '../during.ts';
import { type RoundReport, roundSeed, type TorturePromise } from '../promise.ts';
import { drawFaults, type FaultDraw } from '../proxy/draw-faults.ts';
import type { Fault, TcpProxy } from '../proxy/tcp-proxy.ts';
import { compareServedRows } from '../stored-events.ts';
import { startStorm } from '../storm.ts';
import { type ArmedProxy, type AwayScene, openAwayScene, warehouseUrl } from './away-scene.ts';

/** Rounds take turns between the hops: 20 lost answers on each in the short form, 500 in the long one. */
const ANSWERS_LOST_PER_ROUND = { short: 20, long: 25 };
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

function kindsOf(form: Round['form']): Fault[] {
  const often: Fault[] = [...SWALLOWED, { kind: 'lose' }];
  return form === 'short' ? often : [...often, ...often, ...often, ...RARE];
}

async function loseClientsAnswers(scene: AwayScene, round: Round): Promise<RoundReport> {
  const { ledger } = scene.judged;
  const before = learntFromRetries(ledger);
  const losses = createLosses(scene.hops.client, 'Client', round, {
    share: 0.3,
    among: (request) => request.includes('POST /api/v1/usage/events'),
  });
  const load = { seed: round.seed, run: round.run, past: scene.past, lanes: 6, batchItems: 50 };
  const { summary } = await during(startStorm(scene.throughProxy, load), losses.enough);
  const learnt = learntFromRetries(ledger) - before;
  const problems = [...ledger.problems(), ...(await compareCounters(scene.judged))];
  if (learnt === 0) problems.push('no retry was answered as a duplicate');
  return { counts: { ...losses.counts(), ...summary, eventsLearntFromRetries: learnt }, problems };
}

/** Events whose `created` was lost on the way: every answer that arrived said `duplicate`. */
function learntFromRetries(ledger: Ledger): number {
  return [...ledger.events()].filter(({ created }) => created === 0).length;
}

const INSERT = /insert_deduplication_token=([\w-]+)/;

async function loseInsertsAnswers(scene: AwayScene, round: Round): Promise<RoundReport> {
  const { judged, hops } = scene;
  const tokens = createTokens();
  const losses = createLosses(hops.warehouse, 'Warehouse', round, {
    share: 0.4,
    among: (request) => INSERT.test(request.toString('latin1')),
    onRequest: tokens.seen,
  });
  const lanes = { lanes: 2, batchItems: 20, pauseMs: INSERTS_PAUSE_MS };
  const storm = startStorm(judged, { seed: round.seed, run: round.run, past: scene.past, ...lanes });
  const { summary } = await during(storm, () => {
    return during(keepReading(judged), losses.enough);
  });
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareServedRows(warehouseUrl(scene), judged.ledger)),
    ...tokens.problems(),
  ];
  return { counts: { ...losses.counts(), ...summary }, problems };
}

/** Just enough that an insert is always due. */
const INSERTS_PAUSE_MS = 20;

/** Strong reads, one after the other: who waits cuts the pause short that the load makes after a failure. */
function keepReading(judged: Judged): Beside<void> {
  let stopping = false;
  const reading = (async () => {
    while (!stopping) await waitUntilCounted(judged, ROUND_PATIENCE_MS);
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
function createTokens() {
  const unanswered = new Set<string>();
  return {
    seen(request: Buffer, fault: Fault | undefined): void {
      const [, token] = INSERT.exec(request.toString('latin1')) ?? [];
      if (token === undefined) return;
      if (fault) unanswered.add(token);
      else unanswered.delete(token);
    },
    problems: () => [...unanswered].map((token) => `the insert ${token} was not sent again`),
  };
}

interface LossesDraw extends Pick<FaultDraw, 'share' | 'among'> {
  onRequest?: (request: Buffer, fault: Fault | undefined) => void;
}

interface Losses {
  /** Resolves when as many answers were lost as a round has. */
  enough(): Promise<void>;
  /** What was lost, to be asked for once all is answered. */
  counts(): Record<string, number>;
}

/** Faults of a hop's requests, from now on, until so many were done: not each that is drawn is. */
function createLosses(
  hop: ArmedProxy,
  name: string,
  { form, random }: Round,
  { onRequest, ...draw }: LossesDraw,
): Losses {
  const before = hop.done();
  const answersLost = () => answersIn(hop.done()) - answersIn(before);
  const isEnough = () => answersLost() >= ANSWERS_LOST_PER_ROUND[form];
  const drawn = drawFaults({ random, kinds: kindsOf(form), isEnough, ...draw });
  hop.arm((request) => {
    const fault = drawn(request);
    onRequest?.(request, fault);
    return fault;
  });
  return {
    async enough() {
      const limits = { timeoutMs: ROUND_PATIENCE_MS, everyMs: 5 };
      await seenInTime(() => isEnough() || undefined, limits, `lost answers of the hop ${name}`);
    },
    counts: () => ({
      [`answersLostOf${name}`]: answersLost(),
      [`requestsLostOf${name}`]: hop.done().lose - before.lose,
    }),
  };
}

function answersIn({ swallow, cut, hang }: ReturnType<TcpProxy['done']>): number {
  return swallow + cut + hang;
}

async function judge(scene: AwayScene): Promise<RoundReport> {
  const { judged } = scene;
  const problems = [
    ...judged.ledger.problems(),
    ...(await compareCounters(judged)),
    ...(await compareBreakdowns(judged, ['all'], ['user', '$day'])),
    ...(await compareServedRows(warehouseUrl(scene), judged.ledger)),
  ];
  return { counts: { eventsAcknowledged: judged.ledger.size() }, problems };
}
