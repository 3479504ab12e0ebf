import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { inJobTransaction, type JobTurn } from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { UsageWriter, WrittenEvent } from '../../infra/ports/usage-writer.ts';
import { Transient } from '../../schemas/failures.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import { workThrough } from '../jobs/work-through.ts';
import type { ReservationMetrics } from '../metrics.ts';
import { findUnfinishedCommits, type UnfinishedCommit } from '../store/committed-amounts.ts';
import type { AccountRequest } from './account-request.ts';
import { eventOf, finishCommit, undoCommit } from './commit-holds.ts';
import { decideTogether } from './decide-together.ts';

export interface FinishCommitsDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: ReservationMetrics;
  usageWriter: UsageWriter;
}

const CHUNK = 200;
/** A request that is at work does it sooner. Twice does no harm: the event has one key. */
const LEFT_AFTER_MS = 2_000;
const NO_KEY = Buffer.alloc(0);

/**
 * Finishes commits that no request is at work on: those of a reservation that expired, and those whose
 * process ended. False where some are left.
 */
export function createFinishCommits({ pool, clock, log, metrics, usageWriter }: FinishCommitsDeps) {
  const idOf = ({ row }: UnfinishedCommit) => row.id;
  const slow = createBackoffQueue(clock, idOf);

  async function finish(all: readonly UnfinishedCommit[], turn: { job: string; epoch: number }) {
    for (const environment of new Set(all.map((one) => one.environment))) {
      const own = all.filter((one) => one.environment === environment);
      const written = await usageWriter.write({ environment, events: own.map(({ row }) => eventOf(row)) });
      const requests = own.map((one, at) => finishing(one, written[at]));
      const customerIds = [...new Set(own.map(({ row }) => row.customerId))];
      const together = { environment, customerIds, requests, nowMs: clock.nowMs, sealingKey: NO_KEY };
      await inJobTransaction({ pool, ...turn }, (db) => decideTogether(db, together));
      metrics.ended('committed', written.filter(({ status }) => status !== 'error').length);
    }
  }

  function finishing({ environment, row }: UnfinishedCommit, written: WrittenEvent | undefined) {
    if (!written) throw new Transient('usage_not_written', 'An event of a commit has no result.');
    if (written.status === 'error') {
      const { code } = written.rejection;
      log.error({ reservation: row.id, environment, code }, 'the usage of a reservation was rejected');
    }
    const request: AccountRequest = {
      ...{ environment, customerId: row.customerId, reservationId: row.id, key: undefined },
      change: { environment, method: 'POST', path: '', key: undefined, bodyText: '' },
      decide(account, now) {
        if (written.status === 'error') undoCommit(account, row.id, now);
        else finishCommit(account, row, written.event, now);
        return { status: 200, body: '', isKept: false };
      },
    };
    return request;
  }

  return (turn: JobTurn): Promise<boolean> =>
    workThrough<UnfinishedCommit>({
      ...{ ...turn, idOf, slow, isTogether: true },
      findDue: (except) => {
        const before = new Date(clock.nowMs() - LEFT_AFTER_MS);
        return findUnfinishedCommits(pool, { before, except, limit: CHUNK });
      },
      work: (all, epoch) => finish(all, { job: turn.job, epoch }),
      onFailure: (err, { row }) => log.error({ err, reservation: row.id }, 'a commit could not be finished'),
    });
}
