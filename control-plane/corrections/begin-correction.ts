import type { PoolClient } from 'pg';
import { insertUsageChange } from '../../domain/store/usage-changes.ts';
import { Defect } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { recordChange } from '../changes/record-change.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { FoundEvent } from '../store/read-usage-events.ts';
import {
  type CorrectionRow,
  findCorrection,
  findVoidOf,
  insertVoids,
  lockCorrections,
  type RecordedUsage,
} from '../store/usage-corrections.ts';
import { shownEvent } from '../usage/event-page.ts';
import { recordedUsage } from './recorded-usage.ts';

export interface AskedCorrection {
  event: FoundEvent;
  reason: string | undefined;
  /** Of an amendment: what counts in its place. */
  added?: RecordedUsage;
}

/**
 * Decides that the event counts no more, in this transaction: the row of the ledger, its change, and the
 * audit entry. Returns that change, or the one that had voided the event before.
 */
export async function beginCorrection(
  db: PoolClient,
  context: Omit<RequestContext, 'db'>,
  { event, reason, added }: AskedCorrection,
): Promise<CorrectionRow> {
  const { environment, actor, nowMs } = context;
  await lockCorrections(db, environment);
  const before = await findVoidOf(db, environment, event.id);
  if (before) return before;
  const id = newId('cor');
  const number = await insertUsageChange(db, {
    ...{ environment, id, kind: added ? 'amendment' : 'void', hasVoids: true },
    request: { reason, eventId: event.id, ofChange: event.change, voided: recordedUsage(event), added },
    ...{ createdBy: actor, createdAt: new Date(nowMs) },
  });
  // mutant: void-without-its-ledger-row
  await insertVoids(db, { environment, number }, [event]);
  const shown = shownEvent(event, event);
  await recordChange(
    { ...context, db },
    {
      objectId: event.id,
      before: shown,
      after: { ...shown, status: 'voided', correctionId: id, ...(reason === undefined ? {} : { reason }) },
    },
  );
  const row = await findCorrection(db, environment, id);
  if (!row) throw new Defect('a correction of this transaction is there');
  return row;
}
