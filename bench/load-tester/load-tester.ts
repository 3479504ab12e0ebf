/**
 * `npm run bench:load -- --key KEY …`: an open loop of usage against any running instance. Says what was
 * answered and how fast, then compares every counter with what the answers said, and stores all of it. Exit
 * codes: 0 all as promised, 1 an answer or a counter was not, 2 it could not begin, 130 it was interrupted.
 */
import { randomBytes } from 'node:crypto';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import { keepResult } from '../result-file.ts';
import { type AnswerLedger, createAnswerLedger } from './answer-ledger.ts';
import { judgeCounters } from './judge-counters.ts';
import { latencies } from './latencies.ts';
import { type LoadArguments, readLoadArguments, Unusable, USAGE } from './load-arguments.ts';
import { type Lane, type OpenLoopResult, runOpenLoop, TRACKED_MICROS_MAX } from './open-loop.ts';
import { startProgress } from './progress.ts';
import { lookAtInstance, type TestedInstance } from './tested-instance.ts';
import { createTesterBody } from './tester-body.ts';
import { createTesterConnection } from './tester-connection.ts';

/** Of each lane: so many sends go by before a position comes again, and a replay can. */
const POSITIONS_PER_LANE = 200;
const COUNTED_PATIENCE_MS = 120_000;
const INTERRUPTED_PATIENCE_MS = 15_000;

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const options = readLoadArguments(process.argv.slice(2), process.env);
  const tested = await lookAtInstance(options.url, options.key);
  try {
    return await load(options, tested);
  } finally {
    await tested.api.close();
  }
}

async function load(options: LoadArguments, tested: TestedInstance): Promise<number> {
  const interrupted = interruption();
  const ledger = createAnswerLedger(tested.customers.length);
  const histogram = buildHistogram({
    highestTrackableValue: TRACKED_MICROS_MAX,
    numberOfSignificantValueDigits: 3,
  });
  const startedAtMs = Date.now();
  const lanes = makeLanes(options, tested, startedAtMs);
  const progress = startProgress({ histogram, ledger, rate: options.rate });
  const ran = await runOpenLoop({
    lanes,
    ledger,
    histogram,
    intervalMs: (options.batch * 1_000) / options.rate,
    durationMs: options.durationMs,
    interrupted,
    onAnswered: progress.answered,
  });
  progress.stop();
  for (const { connection } of lanes) connection.close();
  const judgement = await judge(ledger, { tested, startedAtMs, isHurried: interrupted.aborted });
  const result = resultOf(options, { ran, histogram, ledger });
  const problems = [...ledger.faults(), ...judgement.problems, ...gaveUp(ran, interrupted.aborted)];
  const told = { interrupted: interrupted.aborted, ...result, clockSkewMs: tested.clockSkewMs };
  const kept = { ...told, counters: judgement.outcome, problems };
  process.stdout.write(`${JSON.stringify(kept, null, 2)}\n`);
  process.stdout.write(`${keepResult('run', kept, options.out)}\n`);
  if (problems.length > 0) return 1;
  return interrupted.aborted ? 130 : 0;
}

function gaveUp({ givenUp, lastFailure }: OpenLoopResult, isInterrupted: boolean): string[] {
  if (givenUp === 0 || isInterrupted) return [];
  return [`${givenUp} requests found no answer, the last one for: ${lastFailure}`];
}

/** The first SIGINT or SIGTERM ends the sending, the second one everything. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      process.stderr.write('\ninterrupted: what was answered is still compared with the counters\n');
      controller.abort();
    });
  }
  return controller.signal;
}

function makeLanes(options: LoadArguments, tested: TestedInstance, nowMs: number): Lane[] {
  const run = randomBytes(5).toString('hex');
  const { batch, replays, properties, gzip, key, url, seed } = options;
  const { customers, meterKey } = tested;
  const bodies = Math.ceil(POSITIONS_PER_LANE / batch);
  return Array.from({ length: options.connections }, (_, lane) => ({
    connection: createTesterConnection(url),
    bodies: Array.from({ length: bodies }, (__, body) => {
      const number = lane * bodies + body;
      return createTesterBody({
        ...{ host: url.host, key, customers, meterKey, batch, replays, properties, gzip, nowMs },
        seed: seed + number,
        keyPrefix: `${run}-${number.toString(36)}-`,
      });
    }),
  }));
}

interface Judging {
  tested: TestedInstance;
  startedAtMs: number;
  isHurried: boolean;
}

async function judge(
  ledger: AnswerLedger,
  { tested, startedAtMs, isHurried }: Judging,
): Promise<{ outcome: string; problems: string[] }> {
  const { api, customers, meterKey } = tested;
  const patienceMs = isHurried ? INTERRUPTED_PATIENCE_MS : COUNTED_PATIENCE_MS;
  const months = monthsSince(startedAtMs - 60_000);
  try {
    const problems = await judgeCounters({ api, customers, meterKey, ledger, months, patienceMs });
    return { outcome: problems.length === 0 ? 'exactly what was acknowledged' : 'wrong', problems };
  } catch (error) {
    return { outcome: 'not read', problems: [`the counters could not be read: ${(error as Error).message}`] };
  }
}

/** The months that events of the run may have occurred in. */
function monthsSince(ms: number): number[] {
  const now = Date.now();
  const isSame = new Date(ms).toISOString().slice(0, 7) === new Date(now).toISOString().slice(0, 7);
  return isSame ? [now] : [ms, now];
}

interface Ran {
  ran: OpenLoopResult;
  histogram: Histogram;
  ledger: AnswerLedger;
}

function resultOf({ key: _, out: __, url, ...options }: LoadArguments, { ran, histogram, ledger }: Ran) {
  const counts = ledger.counts();
  const seconds = ran.durationMs / 1_000;
  const answered = counts.created + counts.duplicate + counts.refused;
  return {
    seed: options.seed,
    options: { url: url.origin, ...options },
    seconds: Math.round(seconds * 100) / 100,
    requests: ran.requests,
    requestsNotSent: ran.notSent,
    requestsRepeated: ran.repeated,
    requestsGivenUp: ran.givenUp,
    events: { ...counts, perSecond: Math.round(answered / seconds) },
    latencyMs: latencies(histogram),
  };
}

try {
  process.exitCode = await main();
} catch (error) {
  const isTheirs = error instanceof Unusable;
  process.stderr.write(`bench:load: ${isTheirs ? error.message : (error as Error).stack}\n`);
  process.exitCode = isTheirs ? 2 : 1;
}
