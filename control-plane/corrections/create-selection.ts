import { insertUsageChange } from '../../domain/store/usage-changes.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { exactJson, exactNumber } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import {
  type NewUsageCorrection,
  PREVIEWED_MAX,
  SELECTIONS_OPEN_MAX,
  type UsageSelection,
} from '../../schemas/resources/usage-corrections.ts';
import { recordChange } from '../changes/record-change.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import type { RunChange } from '../http/idempotent.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type EventSelection, type SelectedSum, sumSelected } from '../store/select-usage-events.ts';
import { findCorrection, lockCorrections, type SelectionRequest } from '../store/usage-corrections.ts';
import { countOpenSelections } from '../store/usage-selections.ts';
import { readConsistently } from '../usage/consistency.ts';
import { findCustomer, findKnownMeter } from '../usage/customer-meter.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { ReadLong } from '../usage/long-reads.ts';
import { beginReadTime } from '../usage/read-time.ts';
import { openSpan } from '../usage/window.ts';
import { shownCorrection } from './shown-correction.ts';

export interface CreateSelectionDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  readLong: ReadLong;
  runChange: RunChange;
}

/** Begins a correction of many events, or says what it would void. Throws Rejected. */
export function createSelection(deps: CreateSelectionDeps) {
  return async (context: RequestContext, body: NewUsageCorrection): Promise<CommittedResponse> => {
    const { select, dryRun, reason } = body;
    const span = openSpan(select);
    const named = await namedBy(context, select);
    if (dryRun) {
      const filter = Object.entries(select.properties ?? {});
      const { environment, nowMs: recordedToMs } = context;
      return preview(deps, { environment, ...named, span, filter, recordedToMs });
    }
    const { change } = context;
    if (!change) throw new Defect('an operation that commits itself has its request');
    const request: SelectionRequest = { reason, select, ...named };
    return new CommittedResponse(
      await deps.runChange(change, async (db) => begin({ ...context, db }, request)),
    );
  };
}

/** The names are those of now: later ones change nothing. */
async function namedBy(context: RequestContext, { customerId, meterId }: UsageSelection) {
  return {
    customerId: customerId === undefined ? undefined : await findCustomer(context, customerId),
    meterKey: meterId === undefined ? undefined : (await findKnownMeter(context, meterId)).key,
  };
}

async function begin(
  context: RequestContext & Parameters<typeof recordChange>[0],
  request: SelectionRequest,
): Promise<{ status: number; body: string }> {
  const { environment, actor, nowMs } = context;
  const db = context.db as Parameters<typeof insertUsageChange>[0];
  await lockCorrections(db, environment);
  if ((await countOpenSelections(db, environment)) >= SELECTIONS_OPEN_MAX) {
    const message = `${SELECTIONS_OPEN_MAX} corrections are not finished. Retry when one of them is.`;
    throw new Rejected('rate_limited', message);
  }
  const id = newId('cor');
  await insertUsageChange(db, {
    ...{ environment, id, kind: 'selection', hasVoids: true, request },
    ...{ createdBy: actor, createdAt: new Date(nowMs) },
  });
  const row = await findCorrection(db, environment, id);
  if (!row) throw new Defect('a correction of this transaction is there');
  const shown = shownCorrection(row);
  await recordChange(context, { objectId: id, after: shown });
  return { status: 202, body: exactJson(shown) };
}

async function preview(
  { warehouse, freshness, readLong }: CreateSelectionDeps,
  selection: EventSelection,
): Promise<CommittedResponse> {
  const { environment } = selection;
  const time = beginReadTime('strong');
  const wish = { consistency: 'strong' as const, environment, time };
  const shown = await readConsistently(freshness, wish, async (asOfMs, view) => {
    const { sums, events, groups } = await readLong(time, environment, () =>
      sumSelected({ warehouse, view }, selection, PREVIEWED_MAX),
    );
    const more = groups > sums.length;
    return { status: 'preview', events, customers: sums.map(shownSum), more, asOf: timestampText(asOfMs) };
  });
  return new CommittedResponse({ status: 200, body: exactJson(shown), replayed: false });
}

function shownSum({ customerId, meterKey: meterId, events, total }: SelectedSum) {
  return { customerId, meterId, events, total: exactNumber(total) };
}
