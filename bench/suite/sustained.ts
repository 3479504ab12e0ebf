import { setTimeout as pass } from 'node:timers/promises';
import { resetMemoryPeak } from '../../tests/support/process-cost.ts';
import { rssPeaksMib } from '../measure-instance.ts';
import { drive } from './drive.ts';
import type { Measured } from './goals.ts';
import { rounded } from './paired.ts';
import { costsByProcess, type Scenario, toward, waitForAll } from './scenario.ts';
import { watchUncounted } from './uncounted-bytes.ts';

export interface SustainedFigures {
  events: number;
  /** While events were sent. */
  acknowledgedPerSecond: number;
  /** With the time until nothing waited. */
  countedPerSecond: number;
  sentSeconds: number;
  /** From the last response until all was counted. */
  behindSeconds: number;
  /** The largest resident set of each process meanwhile. */
  rssPeakMib: Record<string, number>;
}

const SHAPE = { batch: 500, connections: 8 };
/**
 * What may wait to be counted, by the rate at which it was counted until then: a block that is being inserted
 * waits too, and the next one has to fill meanwhile.
 */
const BEHIND_MS = 1_800;
/** Until there is such a rate: a second of a load of 85,000 events/s. */
const WAITING_BYTES_MIN = 24 * 1024 * 1024;
const LOOK_AGAIN_MS = 5;
/** Beyond it the rate was one of taking events, not of counting them. */
const BEHIND_SECONDS_MAX = 2;
const GOAL_SECONDS = 60;

/**
 * G13: events as fast as they are counted. One request in flight on each connection, and none is sent while
 * more than the load does in two seconds waits: without that the backlog grows as long as the run lasts.
 */
export async function sustainedCount(
  scenario: Scenario,
  durationMs: number,
): Promise<SustainedFigures & { measured: Measured }> {
  const { instance } = scenario;
  await waitForAll(scenario);
  for (const role of ['data plane', 'control side', 'postgres'] as const) resetMemoryPeak(instance.pid(role));
  const watch = await watchUncounted(instance);
  try {
    const startedAt = performance.now();
    const mayWait = () => {
      const bytesPerMs = watch.counted() / (performance.now() - startedAt);
      return Math.max(WAITING_BYTES_MIN, bytesPerMs * BEHIND_MS);
    };
    const beforeEach = async () => {
      const isOver = () => performance.now() > startedAt + durationMs;
      while (watch.uncounted() > mayWait() && !isOver()) await pass(LOOK_AGAIN_MS);
    };
    const { events, seconds } = await drive({ ...toward(scenario, { ...SHAPE, durationMs }), beforeEach });
    await waitForAll(scenario);
    const allSeconds = (performance.now() - startedAt) / 1_000;
    const figures: SustainedFigures = {
      events,
      acknowledgedPerSecond: Math.round(events / seconds),
      countedPerSecond: Math.round(events / allSeconds),
      sentSeconds: rounded(seconds),
      behindSeconds: rounded(allSeconds - seconds),
      rssPeakMib: rssPeaksMib(costsByProcess(scenario)),
    };
    return { ...figures, measured: judgedCount(figures) };
  } finally {
    await watch.stop();
  }
}

export function judgedCount({ countedPerSecond, sentSeconds, behindSeconds }: SustainedFigures): Measured {
  const note = `${sentSeconds} s, all counted ${behindSeconds} s after the last response`;
  const isShort = sentSeconds < GOAL_SECONDS * 0.9;
  return {
    id: 'G13',
    value: countedPerSecond,
    ...(behindSeconds > BEHIND_SECONDS_MAX ? { isNotReached: true } : {}),
    ...(isShort ? { isSmaller: true } : {}),
    note: isShort ? `${note}; the goal speaks of ${GOAL_SECONDS} s` : note,
  };
}
