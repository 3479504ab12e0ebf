import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Feature, FeaturePatch, NewFeature } from '../../schemas/resources/features.ts';
import { beginCatalogueChange, recordCatalogueChange } from '../changes/catalogue-change.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import {
  deleteFeature,
  type FeatureRow,
  findFeature,
  insertFeature,
  listFeatures,
  updateFeature,
} from '../store/features.ts';
import { findMeter } from '../store/meters.ts';

type FeatureOperation = Extract<keyof Handlers, `features.${string}`>;

export const featureHandlers: Pick<Handlers, FeatureOperation> = {
  'features.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listFeatures(db, environment, query);
    return pageOf(rows.map(shownFeature), total, query);
  },

  'features.create': async (context, { body }) => {
    checkMeterKey(body);
    await beginCatalogueChange(context);
    const { db, environment, nowMs } = context;
    const row = await insertFeature(db, environment, {
      id: newId('feat'),
      key: body.key,
      name: body.name,
      type: body.type,
      meterKey: body.meterKey === undefined ? null : await usableMeter(context, body.meterKey),
      createdAt: new Date(nowMs),
    });
    if (!row) throw new Rejected('already_exists', 'Another feature has this key.', { param: 'key' });
    const after = shownFeature(row);
    await recordCatalogueChange(context, { objectId: row.id, after });
    return after;
  },

  'features.retrieve': async ({ db, environment }, { params: { featureKey } }) =>
    shownFeature((await findFeature(db, environment, featureKey)) ?? notFound(featureKey)),

  'features.update': async (context, { params, body }) => {
    const row = await featureToChange(context, params.featureKey);
    checkPatch(row, body);
    const { name = row.name } = body;
    const meterKey =
      body.meterKey === undefined ? row.meterKey : await otherMeter(context, row, body.meterKey);
    if (name === row.name && meterKey === row.meterKey) return shownFeature(row);
    return change(context, row, { name, meterKey });
  },

  'features.delete': async (context, { params }) => {
    const row = await featureToChange(context, params.featureKey);
    const { db, environment } = context;
    await deleteFeature(db, environment, row.id);
    const data = { featureId: row.id, key: row.key };
    await recordCatalogueChange(context, {
      objectId: row.id,
      before: shownFeature(row),
      events: [{ type: 'feature.deleted', data }],
    });
    await touchEntitlements(context, { featureKey: row.key, meterKey: row.meterKey });
    return {};
  },
};

export function shownFeature({ id, key, name, type, meterKey, createdAt, updatedAt }: FeatureRow): Feature {
  return {
    id,
    key,
    name,
    type,
    ...(meterKey === null ? {} : { meterKey }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}

/** As its caller saw it; locked against other changes in this transaction. */
async function featureToChange(context: RequestContext, name: string): Promise<FeatureRow> {
  await beginCatalogueChange(context);
  const row = (await findFeature(context.db, context.environment, name)) ?? notFound(name);
  requireMatch(context, shownFeature(row));
  return row;
}

async function change(
  context: RequestContext,
  row: FeatureRow,
  fields: Pick<FeatureRow, 'name' | 'meterKey'>,
): Promise<Feature> {
  const { db, environment, nowMs } = context;
  const updated = await updateFeature(db, environment, { id: row.id, ...fields, updatedAt: new Date(nowMs) });
  if (!updated) throw new Defect('a feature is missing while the catalogue is locked');
  const after = shownFeature(updated);
  const data = { featureId: row.id, key: row.key };
  await recordCatalogueChange(context, {
    objectId: row.id,
    before: shownFeature(row),
    after,
    events: [{ type: 'feature.updated', data }],
  });
  // mutant: meter-of-a-feature-changed-in-silence
  if (updated.meterKey !== row.meterKey) {
    await touchEntitlements(context, { featureKey: row.key, meterKey: row.meterKey });
  }
  return after;
}

function checkPatch(row: FeatureRow, patch: FeaturePatch): void {
  for (const field of ['key', 'type'] as const) {
    if (patch[field] !== undefined && patch[field] !== row[field]) {
      throw new Rejected('invalid_request', `\`${field}\` cannot be changed.`, { param: field });
    }
  }
  if (patch.meterKey !== undefined && row.type !== 'metered') throw meterKeyOfOthers();
}

function checkMeterKey({ type, meterKey }: NewFeature): void {
  if (type !== 'metered' && meterKey !== undefined) throw meterKeyOfOthers();
  if (type !== 'metered' || meterKey !== undefined) return;
  throw new Rejected('invalid_request', '`meterKey` is required for a metered feature.', {
    param: 'meterKey',
  });
}

/** The present meter may be named again although it was archived meanwhile. */
async function otherMeter(context: RequestContext, row: FeatureRow, name: string): Promise<string | null> {
  return name === row.meterKey ? row.meterKey : usableMeter(context, name);
}

/** The key of an active meter. */
async function usableMeter({ db, environment }: RequestContext, name: string): Promise<string> {
  const meter = await findMeter(db, environment, name);
  if (!meter) throw new Rejected('meter_not_found', `There is no meter ${name}.`, { param: 'meterKey' });
  if (meter.status === 'active') return meter.key;
  throw new Rejected('meter_archived', `The meter ${name} is archived.`, { param: 'meterKey' });
}

function meterKeyOfOthers(): Rejected {
  return new Rejected('invalid_request', '`meterKey` is allowed only for metered features.', {
    param: 'meterKey',
  });
}

function notFound(name: string): never {
  throw new Rejected('feature_not_found', `There is no feature ${name}.`, { param: 'featureKey' });
}
