import { startRates } from '../../domain/store/meter-rates.ts';
import { notifyChange } from '../../domain/store/notify-change.ts';
import { holdSettlement } from '../../domain/store/settlement-lock.ts';
import { markForSettlement } from '../../domain/store/settlement-marks.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Meter, MeterPatch, NewMeter } from '../../schemas/resources/meters.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { type Change, recordChange } from '../changes/record-change.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readCreditRates, shownCreditRates } from '../input/read-credit-rates.ts';
import { readEventSource } from '../input/read-event-source.ts';
import { raiseCatalogueVersion } from '../store/entitlement-versions.ts';
import {
  findMeter,
  insertMeter,
  listMeters,
  lockMeter,
  type MeterFields,
  type MeterRow,
  updateMeter,
} from '../store/meters.ts';

type MeterOperation = Extract<keyof Handlers, `meters.${string}`>;

export const meterHandlers: Pick<Handlers, MeterOperation> = {
  'meters.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listMeters(db, environment, query);
    return pageOf(rows.map(shownMeter), total, query);
  },

  'meters.create': async (context, { body, bodyText }) => {
    checkProperty(body);
    checkRates(body.aggregation, body);
    const { db, environment, nowMs } = context;
    const { key, name, aggregation, property = null, unit = null } = body;
    const eventSource = body.eventSource ? readEventSource(body.eventSource) : null;
    const { creditRate = null, creditRates = null } = readCreditRates(bodyText);
    const id = newId('meter');
    const createdAt = new Date(nowMs);
    const fields = { id, key, name, aggregation, property, unit, creditRate, creditRates, eventSource };
    const row = await insertMeter(db, environment, { ...fields, createdAt });
    if (!row) throw new Rejected('already_exists', 'Another meter has this key.', { param: 'key' });
    if (creditRate !== null || creditRates !== null) {
      const rates = { meterKey: key, creditRate, creditRates };
      await startRates(db, environment, { ...rates, startedAt: BEFORE_ALL_USAGE });
    }
    const after = shownMeter(row);
    await record(context, { objectId: id, after });
    return after;
  },

  'meters.retrieve': async ({ db, environment }, { params: { meterId } }) =>
    shownMeter((await findMeter(db, environment, meterId)) ?? notFound(meterId)),

  'meters.update': async (context, { params, body, bodyText }) => {
    const row = await lockedMeter(context, params.meterId);
    checkUnchanged(row, body);
    checkRates(row.aggregation, body);
    const { name = row.name, unit = row.unit, eventSource: source = row.eventSource } = body;
    const eventSource = source && readEventSource(source);
    return change(context, row, { ...row, name, unit, eventSource, ...readCreditRates(bodyText) });
  },

  'meters.archive': async (context, { params }) => {
    const row = await lockedMeter(context, params.meterId);
    return change(context, row, { ...row, status: 'archived' });
  },
};

/**
 * When a meter's first rates begin: usage from before its creation arrived late, and costs what the meter
 * costs.
 */
const BEFORE_ALL_USAGE = new Date(0);

export function shownMeter({
  property,
  unit,
  creditRate,
  creditRates,
  eventSource,
  ...row
}: MeterRow): Meter {
  return {
    ...row,
    ...(property === null ? {} : { property }),
    ...(unit === null ? {} : { unit }),
    ...shownCreditRates({ creditRate, creditRates }),
    ...(eventSource === null ? {} : { eventSource }),
    createdAt: timestampText(row.createdAt.getTime()),
    updatedAt: timestampText(row.updatedAt.getTime()),
  };
}

/** As its caller saw it, and locked. */
async function lockedMeter(context: RequestContext, name: string): Promise<MeterRow> {
  const row = (await lockMeter(context.db, context.environment, name)) ?? notFound(name);
  requireMatch(context, shownMeter(row));
  return row;
}

/** To the same values: nothing is written and no event is emitted. */
async function change(context: RequestContext, row: MeterRow, fields: MeterFields): Promise<Meter> {
  const { db, environment, nowMs } = context;
  const before = shownMeter(row);
  const changed = changedFields(before, shownMeter({ ...row, ...fields }));
  if (changed.length === 0) return before;
  const isRates = changed.includes('creditRate') || changed.includes('creditRates');
  const now = new Date(nowMs);
  const updatedAt = isRates ? await holdSettlement(db, now) : now;
  const updated = await updateMeter(db, environment, { ...fields, id: row.id, updatedAt });
  if (!updated) throw new Defect('a locked meter is missing');
  const after = shownMeter(updated);
  if (isRates) await changeRates(context, updated);
  // A pricing page shows it, and is kept by this version.
  if (changed.includes('unit')) await raiseCatalogueVersion(db, environment);
  await record(context, { objectId: row.id, before, after });
  return after;
}

/**
 * Events at or after its `updatedAt` were settled at the old rates only if their timestamps were in the
 * future.
 */
async function changeRates(context: RequestContext, meter: MeterRow): Promise<void> {
  const { db, environment } = context;
  const { key: meterKey, creditRate, creditRates, updatedAt: startedAt } = meter;
  const from = await startRates(db, environment, { meterKey, creditRate, creditRates, startedAt });
  await markForSettlement(db, environment, { meterKey, from });
}

/** The data plane caches meters. */
async function record(context: RequestContext, entry: Change): Promise<void> {
  const { db, environment } = context;
  await recordChange(context, entry);
  await notifyChange(db, { kind: 'meter', environment, id: entry.objectId });
}

function checkProperty({ aggregation, property }: NewMeter): void {
  if (aggregation === 'unique' && property === undefined) {
    throw invalid('property', 'is required: the event property whose distinct values are counted');
  }
  if (aggregation !== 'unique' && property !== undefined)
    throw invalid('property', 'is allowed only for unique meters');
}

function checkRates(aggregation: Aggregation, rates: Pick<MeterPatch, 'creditRate' | 'creditRates'>): void {
  if (aggregation === 'sum' || aggregation === 'count') return;
  for (const field of ['creditRate', 'creditRates'] as const) {
    const rate = rates[field];
    if (rate !== undefined && rate !== null) throw invalid(field, 'is allowed only for sum and count meters');
  }
}

function checkUnchanged(row: MeterRow, patch: MeterPatch): void {
  for (const field of ['key', 'aggregation', 'property'] as const) {
    if (patch[field] !== undefined && patch[field] !== row[field]) throw invalid(field, 'cannot be changed');
  }
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}

function notFound(name: string): never {
  throw new Rejected('meter_not_found', `There is no meter ${name}.`, { param: 'meterId' });
}
