import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import { recordAttempts } from '../store/record-attempts.ts';
import { afterVerdicts } from './after-verdicts.ts';
import type { Verdict } from './delivery-verdict.ts';

/** Writes down what came of attempts, many at a time. */
export interface Recorder {
  add(verdict: Verdict): void;
  /** Not written yet. */
  pending(): number;
  /** Tries to write what is left, for so long. */
  close(patienceMs: number): Promise<void>;
}

export interface RecorderDeps {
  pool: Pool;
  log: Logger;
  metrics: DeliveryMetrics;
  random: () => number;
  owner: string;
  /** They are recorded. `pausedIds`: endpoints to which nothing is sent for now. */
  onRecorded: (verdicts: readonly Verdict[], pausedIds: readonly string[]) => void;
}

const BATCH = 250;
/** 20 commits a second at most: what ends in between is written together, and sent again after a kill. */
const PAUSE_MS = 50;
const RETRY_MS = 500;

/**
 * Records one batch after the other. While Postgres is unavailable, outcomes wait here, and the dispatcher
 * begins no attempts when too many wait. Outcomes are lost only with the process: then the attempts are sent
 * again.
 */
export function createRecorder(deps: RecorderDeps): Recorder {
  const { log, onRecorded } = deps;
  const waiting: Verdict[] = [];
  const wakeup = createWakeup();
  let giveUpAtMs = Number.POSITIVE_INFINITY;
  let isClosing = false;
  const isOver = () => isClosing && (waiting.length === 0 || performance.now() > giveUpAtMs);

  async function keepRecording(): Promise<void> {
    while (!isOver()) {
      if (waiting.length === 0) await wakeup.wait(IDLE_MS);
      else await recordNext();
    }
  }

  async function recordNext(): Promise<void> {
    const batch = waiting.slice(0, BATCH);
    try {
      const pausedIds = await record(deps, batch);
      waiting.splice(0, batch.length);
      onRecorded(batch, pausedIds);
      if (waiting.length < BATCH && !isClosing) await delay(PAUSE_MS);
    } catch (err) {
      log.warn({ err }, 'attempts could not be recorded');
      await delay(RETRY_MS);
    }
  }

  const recording = keepRecording();
  return {
    add(verdict) {
      waiting.push(verdict);
      wakeup.wake();
    },
    pending: () => waiting.length,
    async close(patienceMs) {
      giveUpAtMs = performance.now() + patienceMs;
      isClosing = true;
      wakeup.wake();
      await recording;
    },
  };
}

const IDLE_MS = 60_000;

/**
 * One that Postgres cannot store must not keep back the others: then each by itself, and that one without
 * texts.
 */
async function record(deps: RecorderDeps, batch: readonly Verdict[]): Promise<string[]> {
  try {
    return await inTransaction(deps.pool, (db) => recordAll(db, deps, batch));
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    if (batch.length === 1) return await inTransaction(deps.pool, (db) => recordAll(db, deps, bare(batch)));
  }
  deps.log.error({ count: batch.length }, 'an attempt cannot be stored as it is');
  const pausedIds: string[] = [];
  for (const one of batch) pausedIds.push(...(await record(deps, [one])));
  return pausedIds;
}

async function recordAll(db: PoolClient, deps: RecorderDeps, batch: readonly Verdict[]): Promise<string[]> {
  const { pausedIds, verdicts } = await afterVerdicts(db, batch, deps);
  await recordAttempts(db, deps.owner, verdicts);
  return pausedIds;
}

/** SQLSTATE class 22: data exception, such as a character that no text of Postgres can hold. */
function isUnstorable(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code ?? '').startsWith('22');
}

function bare(batch: readonly Verdict[]): Verdict[] {
  return batch.map((verdict) => {
    const { responseHead, responseBody, ...attempt } = verdict.attempt;
    return { ...verdict, attempt };
  });
}
