import { inTransaction } from '../../infra/postgres/pool.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { type AskedCorrection, beginCorrection } from '../corrections/begin-correction.ts';
import { createSelection } from '../corrections/create-selection.ts';
import { createFindCorrected, type FindCorrectedDeps } from '../corrections/find-corrected.ts';
import { readAmendment } from '../corrections/read-amendment.ts';
import { idOf, shownAdded, shownCorrection } from '../corrections/shown-correction.ts';
import {
  type CorrectionDeps,
  closeEventCorrection,
  writeEventCorrection,
} from '../corrections/write-correction.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import type { RunChange } from '../http/idempotent.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import {
  type CorrectionRow,
  type EventCorrectionRow,
  findCorrection,
  listCorrections,
} from '../store/usage-corrections.ts';
import { shownEvent } from '../usage/event-page.ts';

type CorrectionHandlers = Pick<Handlers, Extract<keyof Handlers, `usageCorrections.${string}`>>;

export interface CorrectionHandlerDeps extends CorrectionDeps, FindCorrectedDeps {
  runChange: RunChange;
}

export function createUsageCorrectionHandlers(deps: CorrectionHandlerDeps): CorrectionHandlers {
  const find = createFindCorrected(deps);
  const correct = createCorrectEvent(deps);
  const select = createSelection(deps);
  return {
    'usageCorrections.void': async (context, { params, body }) => {
      const event = await find(context.environment, params.usageEventId);
      return correct(context, { event, reason: body.reason });
    },

    'usageCorrections.amend': async (context, { params, body, bodyText }) => {
      const event = await find(context.environment, params.usageEventId);
      const added = await readAmendment(context, event, { body, bodyText });
      return correct(context, { event, reason: body.reason, added });
    },

    'usageCorrections.create': (context, { body }) => select(context, body),

    'usageCorrections.list': async ({ db, environment }, { query }) => {
      const { rows, total } = await listCorrections(db, environment, query);
      return pageOf(rows.map(shownCorrection), total, query);
    },

    'usageCorrections.retrieve': async ({ db, environment }, { params: { correctionId } }) => {
      const row = await findCorrection(db, environment, correctionId);
      if (row) return shownCorrection(row);
      throw new Rejected('not_found', `There is no correction ${correctionId}.`, { param: 'correctionId' });
    },
  };
}

/**
 * One correction of one event. First it is decided, durably; then its records are written; then it is closed,
 * together with the kept response of an Idempotency-Key. What a crash leaves is finished by the same request
 * again, or by the job (corrections-job.ts).
 */
function createCorrectEvent(deps: CorrectionHandlerDeps) {
  const { runChange, pool, clock } = deps;
  return async (context: RequestContext, asked: AskedCorrection): Promise<CommittedResponse> => {
    const { change, environment } = context;
    if (!change) throw new Defect('an operation that commits itself has its request');
    const begun = await inTransaction(pool, (db) => beginCorrection(db, context, asked));
    const row = sameCorrection(begun, asked);
    const written = row?.state === 'open' ? await writeEventCorrection(deps, row) : undefined;
    const response = await runChange(change, async (db) => {
      if (row && written) await closeEventCorrection(db, row, written, new Date(clock.nowMs()));
      const closed = await findCorrection(db, environment, begun.id);
      return { status: 200, body: exactJson(shownCorrected(asked, closed ?? begun)) };
    });
    return new CommittedResponse(response);
  };
}

/**
 * What the response is made of: the correction that voided the event. Undefined: it is one of many events.
 * Throws Rejected: it has voided the event otherwise than it was asked for, or is not complete.
 */
function sameCorrection(row: CorrectionRow, { added }: AskedCorrection): EventCorrectionRow | undefined {
  if (added && !isSame(row, added)) {
    const message = 'The event was voided before. Amend the event in its place, or record a new one.';
    const supersededBy = row.kind === 'amendment' && row.addedEvent ? idOf(row.addedEvent) : undefined;
    throw new Rejected('illegal_transition', message, supersededBy ? { details: { supersededBy } } : {});
  }
  if (row.kind !== 'selection') return row;
  if (row.state !== 'open') return undefined;
  throw new Rejected(
    'unavailable',
    `The correction ${row.id} voids it, and is not complete. Retry the request.`,
  );
}

function isSame(row: CorrectionRow, added: NonNullable<AskedCorrection['added']>): boolean {
  if (row.kind !== 'amendment' || !row.request.added) return false;
  const known = row.request.added;
  return (Object.keys(added) as Array<keyof typeof added>).every((name) => added[name] === known[name]);
}

function shownCorrected({ event }: AskedCorrection, row: CorrectionRow) {
  const added = row.kind === 'amendment' && row.addedEvent !== null ? row.addedEvent : undefined;
  const voided = { ...shownEvent(event, event), status: 'voided' as const };
  if (added === undefined) return { correctionId: row.id, voided };
  return {
    correctionId: row.id,
    voided: { ...voided, supersededBy: idOf(added) },
    event: shownAdded(added, event.id),
  };
}
