/**
 * `npm run bench:load -- --key KEY …`: an open loop of usage against any running instance. Says what was
 * responded and how fast, then compares every counter with the responses, and stores all of it. Exit
 * codes: 0 all as promised, 1 a response or a counter was wrong, 2 it could not begin, 130 it was
 * interrupted.
 */
import { randomBytes } from 'node:crypto';
import type { Histogram } from 'hdr-histogram-js';
import { createLoadSenders, type LoadSender } from '../../tests/support/load-senders.ts';
import { INTERRUPTED_CODE, interruption } from '../interruption.ts';
import { runScript } from '../read-options.ts';
import { openResult } from '../result-file.ts';
import { type Judgement, judgeRun, NOT_JUDGED } from './judge-run.ts';
import { latencies } from './latencies.ts';
import { type LoadArguments, readLoadArguments, USAGE } from './load-arguments.ts';
import { createHistogram, type OpenLoopResult, runOpenLoop } from './open-loop.ts';
import { startProgress } from './progress.ts';
import { createResponseLedger, type ResponseLedger } from './response-ledger.ts';
import { lookAtInstance, type TestedInstance } from './tested-instance.ts';

/** Per connection: this many sends pass before a position repeats, and a replay can be sent. */
const POSITIONS_PER_SENDER = 200;

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
  const interrupted = interruption('the responses so far are still compared with the counters, briefly');
  const ledger = createResponseLedger(tested.customers.length);
  const histogram = createHistogram();
  const startedAtMs = Date.now();
  const senders = makeSenders(options, tested, startedAtMs);
  const progress = startProgress(options.rate, histogram, ledger);
  const ran = await runOpenLoop({
    senders,
    ledger,
    histogram,
    intervalMs: (options.batch * 1_000) / options.rate,
    durationMs: options.durationMs,
    interrupted,
    onResponded: progress.responded,
  });
  progress.stop();
  for (const { connection } of senders) connection.close();
  const { clockSkewMs, ...question } = tested;
  const file = openResult('run', options.out);
  const keep = (judgement: Judgement) => {
    const problems = [...ledger.faults(), ...judgement.problems, ...gaveUp(ran, interrupted.aborted)];
    const result = { ...resultOf(options, { ran, histogram, ledger }), clockSkewMs };
    const kept = { interrupted: interrupted.aborted, ...result, counters: judgement.outcome, problems };
    file.keep(kept);
    return kept;
  };
  // Store the responses in any case: judging may wait for minutes, and may fail.
  keep(NOT_JUDGED);
  const kept = keep(await judgeRun({ ...question, ledger, startedAtMs, interrupted }));
  process.stdout.write(`${JSON.stringify(kept, null, 2)}\n${file.path}\n`);
  if (kept.problems.length > 0) return 1;
  return interrupted.aborted ? INTERRUPTED_CODE : 0;
}

function gaveUp({ givenUp, lastFailure }: OpenLoopResult, isInterrupted: boolean): string[] {
  if (givenUp === 0 || isInterrupted) return [];
  return [`${givenUp} requests received no response, the last one for: ${lastFailure}`];
}

function makeSenders(options: LoadArguments, tested: TestedInstance, nowMs: number): LoadSender[] {
  return createLoadSenders({
    ...options,
    customers: tested.customers,
    meterKeys: [tested.meterKey],
    properties: Array.from({ length: options.properties }, (_, at) => `p${at}`),
    bodiesEach: Math.ceil(POSITIONS_PER_SENDER / options.batch),
    nowMs,
    keyPrefix: `${randomBytes(5).toString('hex')}-`,
  });
}

interface Ran {
  ran: OpenLoopResult;
  histogram: Histogram;
  ledger: ResponseLedger;
}

function resultOf({ key: _, out: __, url, ...options }: LoadArguments, { ran, histogram, ledger }: Ran) {
  const counts = ledger.counts();
  const seconds = ran.durationMs / 1_000;
  const responded = counts.created + counts.duplicate + counts.rejected;
  return {
    seed: options.seed,
    options: { url: url.origin, ...options },
    seconds: Math.round(seconds * 100) / 100,
    requests: ran.requests,
    requestsNotSent: ran.notSent,
    requestsRepeated: ran.repeated,
    requestsGivenUp: ran.givenUp,
    events: { ...counts, perSecond: Math.round(responded / seconds) },
    latencyMs: latencies(histogram),
  };
}

await runScript('bench:load', main);
