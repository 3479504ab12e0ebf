import { percentile } from '../../tests/support/freshness-probe.ts';
import type { LoadSender } from '../../tests/support/load-senders.ts';
import { createHistogram, runOpenLoop } from '../load-tester/open-loop.ts';
import { createResponseLedger } from '../load-tester/response-ledger.ts';
import { makeSenders } from './drive.ts';
import { type GeneratorStalls, type Span, stalledMs, watchStalls } from './generator-stalls.ts';
import { rounded } from './paired.ts';
import { type Scenario, toward } from './scenario.ts';

/** What of the times was the generator's own doing. */
export interface GeneratorFigures {
  /** p99 of the responses without the stalls of the generator that lay in each. */
  p99WithoutStallsMs: number;
  /** Of the time. */
  stalledShare: number;
  longestStallMs: number;
  /** Of its whole heap, and of the young one. */
  majorCollections: number;
  minorCollections: number;
  longestCollectionMs: number;
}

export interface RateOptions {
  batch: number;
  connections: number;
  /** Events per second. */
  rate: number;
}

/** An open loop at one rate, in rounds on connections that stay open. */
export interface RateRecorder {
  /** One round, after a short one that is not recorded. */
  record(durationMs: number): Promise<void>;
  recorded(): RecordedResponses;
  close(): void;
}

export interface RecordedResponses {
  histogram: ReturnType<typeof createHistogram>;
  requests: number;
  notSent: number;
  /** From the first request that fell due to the last response, of all rounds. */
  durationMs: number;
  generator: GeneratorFigures;
}

/** Until every connection has served a few requests again. */
export const WARM_UP_MS = 150;
/** Reading a whole response is a stall of half a millisecond. */
const READ_WHOLE_EVERY = 200;

/** All bodies are made here, once: what is made while times are taken has to be collected then. */
export function createRateRecorder(scenario: Scenario, { rate, ...requests }: RateOptions): RateRecorder {
  const senders = makeSenders(toward(scenario, { ...requests, durationMs: 0 }), 7);
  const ledger = createResponseLedger(scenario.customers.length, READ_WHOLE_EVERY);
  const loop = { senders, ledger, intervalMs: (requests.batch * 1_000) / rate };
  const histogram = createHistogram();
  const unrecorded = createHistogram();
  const found = { requests: 0, notSent: 0, durationMs: 0 };
  const rounds: Array<{ responses: Span[]; stalls: GeneratorStalls }> = [];
  return {
    async record(durationMs) {
      await runOpenLoop({ ...loop, histogram: unrecorded, durationMs: WARM_UP_MS });
      const responses: Span[] = [];
      const onTimed = (fromMs: number, untilMs: number) => void responses.push({ fromMs, untilMs });
      const watched = watchStalls();
      const ran = await runOpenLoop({ ...loop, histogram, durationMs, onTimed });
      rounds.push({ responses, stalls: watched.stop() });
      const [fault] = ledger.faults();
      if (fault !== undefined) throw new Error(fault);
      found.requests += ran.requests;
      found.notSent += ran.notSent;
      found.durationMs += ran.durationMs;
    },
    recorded: () => ({ ...found, histogram, generator: generatorFigures(rounds, found.durationMs) }),
    close: () => closeAll(senders),
  };
}

function closeAll(senders: readonly LoadSender[]): void {
  for (const { connection } of senders) connection.close();
}

export function generatorFigures(
  rounds: ReadonlyArray<{ responses: readonly Span[]; stalls: GeneratorStalls }>,
  durationMs: number,
): GeneratorFigures {
  const stalls = rounds.map((round) => round.stalls);
  const lengths = stalls.flatMap(({ spans }) => spans.map(({ fromMs, untilMs }) => untilMs - fromMs));
  const withoutStalls = rounds.flatMap(({ responses, stalls: { spans } }) =>
    responses.map((one) => one.untilMs - one.fromMs - stalledMs(one, spans)),
  );
  const sum = (each: (one: GeneratorStalls) => number) => stalls.reduce((all, one) => all + each(one), 0);
  return {
    p99WithoutStallsMs: rounded(percentile(withoutStalls, 99)),
    stalledShare: rounded(lengths.reduce((all, ms) => all + ms, 0) / durationMs),
    longestStallMs: rounded(Math.max(0, ...lengths)),
    majorCollections: sum((one) => one.majorCollections),
    minorCollections: sum((one) => one.minorCollections),
    longestCollectionMs: rounded(Math.max(0, ...stalls.map((one) => one.longestCollectionMs))),
  };
}
