import type { UsageWriter, WrittenEvent } from '../../infra/ports/usage-writer.ts';
import { Defect } from '../../schemas/failures.ts';
import { createBatchByKey } from '../entitlements/cache/batch-by-key.ts';
import type { Response } from '../http/idempotent.ts';
import type { ReservationRow } from '../store/reservations.ts';
import type { Account } from './account.ts';
import type { AccountQueue } from './account-queue.ts';
import type { AccountRequest, Decided } from './account-request.ts';
import { eventOf, finishCommit, throwRejection, undoCommit } from './commit-holds.ts';

export interface CommitRequest extends Omit<AccountRequest, 'decide'> {
  reservationId: string;
  /** The reservation as it is committing or committed; or the response, where it is not. */
  begin(account: Account, now: Date): ReservationRow | Decided;
  /** Of a committed one. */
  respond(row: ReservationRow, now: Date): { status: number; body: string };
}

/**
 * Commits: begins, writes the event and finishes. Resolves once all three are durable. Throws as an account
 * queue does, Rejected where the event is, and Transient where it is unknown whether the event was written: a
 * job finishes that.
 */
export type CommitUsage = (request: CommitRequest) => Promise<Response>;

interface Writing {
  row: ReservationRow;
  written?: WrittenEvent | undefined;
}

const NOTHING: Decided = { status: 200, body: '', isKept: false };

export function createCommitUsage(accountQueue: AccountQueue, usageWriter: UsageWriter): CommitUsage {
  /** Of one environment together, while others are written. */
  const write = createBatchByKey<{ environment: string; writing: Writing }>(async (all) => {
    const events = all.map(({ writing }) => eventOf(writing.row));
    const written = await usageWriter.write({ environment: all[0]?.environment ?? '', events });
    for (const [at, { writing }] of all.entries()) writing.written = written[at];
  });

  return async ({ begin, respond, ...request }) => {
    const { environment, reservationId } = request;
    let begun: ReservationRow | undefined;
    const first = await accountQueue.decide({
      ...request,
      decide(account, now) {
        const made = begin(account, now);
        if (!('id' in made)) return made;
        begun = made;
        return made.status === 'committed' ? { ...respond(made, now), isKept: true } : NOTHING;
      },
    });
    if (!begun || begun.status === 'committed') return first;
    const writing: Writing = { row: begun };
    await write(environment, { environment, writing });
    const { row, written } = writing;
    if (!written) throw new Defect('an event of a commit has a result');
    const finished = await accountQueue.decide({
      ...request,
      decide(account, now) {
        if (written.status !== 'error') {
          const committed = finishCommit(account, row, written.event, now);
          return { ...respond(committed, now), isKept: true, outcome: 'committed' };
        }
        undoCommit(account, reservationId, now);
        return NOTHING;
      },
    });
    if (written.status === 'error') throwRejection(written);
    return finished;
  };
}
