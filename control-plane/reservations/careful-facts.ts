import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Clock } from '../../infra/ports/clock.ts';
import { Rejected, Transient } from '../../schemas/failures.ts';
import { createBatchByKey } from '../entitlements/cache/batch-by-key.ts';
import type { RequestContext } from '../http/request-context.ts';
import { areSettled, findUnsettledRanges, lastCommitNumber } from '../store/committed-amounts.ts';
import { Uncertain } from './change-holds.ts';
import type { HoldFacts, HoldFactsQuestion, ReadHoldFacts } from './hold-facts.ts';

export interface CarefulFactsDeps {
  pool: Pool;
  clock: Clock;
  /** Hex, of the log. */
  logId: string;
  readHoldFacts: ReadHoldFacts;
}

/**
 * Calls `decide` with what decides a hold: facts as they are cached, and where those leave it open, because
 * commits may be in them or not, facts that have all commits up to a number. Throws as `decide` does, and
 * Rejected `overloaded` where others commit all the time.
 */
export type WithFacts = <Made>(
  context: RequestContext,
  question: HoldFactsQuestion,
  decide: (known: HoldFacts) => Promise<Made>,
) => Promise<Made>;

interface Asking {
  context: RequestContext;
  question: HoldFactsQuestion;
  read?: HoldFacts;
}

/** As long as a strong read may wait. */
const CERTAIN_WITHIN_MS = 5_000;
const SETTLED_LOOK_MS = 20;

export function createWithFacts(deps: CarefulFactsDeps): WithFacts {
  const { pool, clock, logId, readHoldFacts } = deps;

  /** All of one customer's feature get the same: those who ask while it is read get the next. */
  const readInTurn = createBatchByKey<Asking>(async (asking) => {
    const [first] = asking as [Asking];
    const read = await readCarefully(first);
    for (const one of asking) one.read = read;
  });

  async function readCarefully({ context, question }: Asking): Promise<HoldFacts> {
    // First: the events of commits up to it are on the log, so that a strong read has them.
    const countedTo = await lastCommitNumber(pool);
    const strong = { ...question, consistency: 'strong' } as const;
    const known = await readHoldFacts(context, strong);
    if (!known.facts.credit) return { ...known, countedTo };
    // Credits are taken when usage is settled, some time after it is counted.
    await untilSettled();
    return { ...(await readHoldFacts(context, strong)), countedTo };
  }

  async function untilSettled(): Promise<void> {
    const ranges = await findUnsettledRanges(pool, logId);
    const untilMs = clock.monotonicMs() + CERTAIN_WITHIN_MS;
    while (!(await areSettled(pool, logId, ranges))) {
      if (clock.monotonicMs() > untilMs) {
        throw new Transient('usage_not_settled', 'What was used lately is not paid from credits yet.');
      }
      await delay(SETTLED_LOOK_MS);
    }
  }

  return async (context, question, decide) => {
    const untilMs = clock.monotonicMs() + CERTAIN_WITHIN_MS;
    let known = await readHoldFacts(context, question);
    for (;;) {
      try {
        return await decide(known);
      } catch (error) {
        if (!(error instanceof Uncertain)) throw error;
      }
      if (clock.monotonicMs() > untilMs) throw BUSY();
      const asking: Asking = { context, question };
      await readInTurn(`${context.environment} ${question.customer} ${question.featureKey}`, asking);
      known = asking.read ?? known;
    }
  };
}

const BUSY = () =>
  new Rejected('overloaded', 'What this customer used lately is being counted. Retry the request.');
