import type { Pool } from 'pg';
import type { Clock } from '../../infra/ports/clock.ts';
import {
  areSettled,
  findUnsettledRanges,
  type LogRange,
  lastCommitNumber,
} from '../store/committed-amounts.ts';
import type { Freshness } from '../usage/freshness.ts';

export interface CountedCommitsDeps {
  pool: Pool;
  clock: Clock;
  freshness: Freshness;
  /** Hex, of the log. */
  logId: string;
}

/** Finds out up to which commit no decision needs to know of it, as well as of its usage. */
export interface CountedCommits {
  /** The number of that commit; undefined while no more of them are known than were forgotten. */
  look(): Promise<number | undefined>;
  forgotten(number: number): void;
}

/**
 * For so long after its usage is counted and settled. Decisions reject a counter from more than 5 s ago
 * (change-holds.ts), and their caches learn of balances and of what was loaded within seconds.
 */
const KEPT_MS = 15_000;

/** On its way: up to this commit, whose event is before that position. */
interface Sample {
  number: number;
  end: number;
  unsettled?: LogRange[];
  settledAtMs?: number;
}

export function createCountedCommits(deps: CountedCommitsDeps): CountedCommits {
  const { pool, clock, freshness, logId } = deps;
  let forgottenTo = 0;
  let sample: Sample | undefined;

  async function begin(): Promise<Sample | undefined> {
    const number = await lastCommitNumber(pool);
    // Behind the number: what it stands for is on the log by then.
    return number > forgottenTo ? { number, end: await freshness.arrive() } : undefined;
  }

  return {
    async look() {
      sample ??= await begin();
      if (!sample) return undefined;
      if ((freshness.loadedTo() ?? -1) < sample.end) return undefined;
      sample.unsettled ??= await findUnsettledRanges(pool, logId);
      if (sample.settledAtMs === undefined) {
        if (!(await areSettled(pool, logId, sample.unsettled))) return undefined;
        sample.settledAtMs = clock.monotonicMs();
      }
      // A repair may have taken from the counts.
      if ((await freshness.repairs()).isOpen) return undefined;
      if (clock.monotonicMs() - sample.settledAtMs < KEPT_MS) return undefined;
      return sample.number;
    },
    forgotten(number) {
      forgottenTo = number;
      sample = undefined;
    },
  };
}
