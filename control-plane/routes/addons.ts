import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Addon, AddonEntitlements } from '../../schemas/resources/addons.ts';
import { beginCatalogueChange, recordCatalogueChange } from '../changes/catalogue-change.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { knownAddon } from '../changes/known-addon.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers } from '../http/request-context.ts';
import { readEntitlementValues, shownEntitlements } from '../input/read-entitlement-values.ts';
import { isOtherPrices, mapPrices } from '../processor/map-prices.ts';
import {
  type AddonRow,
  deleteAddonEntitlements,
  insertAddon,
  insertAddonEntitlements,
  listAddonEntitlements,
  listAddons,
  touchAddon,
  updateAddon,
} from '../store/addons.ts';
import type { EntitlementValueRow } from '../store/entitlement-values.ts';
import { addonPriceHandlers } from './addon-prices.ts';

type AddonOperation = Extract<keyof Handlers, `addons.${string}`>;

export const addonHandlers: Pick<Handlers, AddonOperation> = {
  ...addonPriceHandlers,

  'addons.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listAddons(db, environment, query);
    return pageOf(rows.map(shownAddon), total, query);
  },

  'addons.create': async (context, { body: { key, name, processorPriceIds = [] } }) => {
    await beginCatalogueChange(context);
    const { db, environment, nowMs } = context;
    const row = await insertAddon(db, environment, {
      id: newId('addon'),
      key,
      name,
      createdAt: new Date(nowMs),
    });
    if (!row) throw new Rejected('already_exists', 'Another add-on has this key.', { param: 'key' });
    await mapPrices(context, { addonId: row.id }, processorPriceIds);
    const after = shownAddon({ ...row, processorPriceIds: processorPriceIds.toSorted() });
    await recordCatalogueChange(context, { objectId: row.id, after });
    return after;
  },

  'addons.retrieve': async (context, { params }) => shownAddon(await knownAddon(context, params.addonId)),

  'addons.update': async (context, { params, body }) => {
    await beginCatalogueChange(context);
    const row = await knownAddon(context, params.addonId);
    const before = shownAddon(row);
    requireMatch(context, before);
    const { name = row.name, processorPriceIds = row.processorPriceIds } = body;
    const isMapped = isOtherPrices(row.processorPriceIds, processorPriceIds);
    if (name === row.name && !isMapped) return before;
    const { db, environment, nowMs } = context;
    if (isMapped) await mapPrices(context, { addonId: row.id }, processorPriceIds);
    const updated = await updateAddon(db, environment, { id: row.id, name, updatedAt: new Date(nowMs) });
    if (!updated) throw new Defect('an add-on is missing while the catalogue is locked');
    const after = shownAddon(updated);
    await recordCatalogueChange(context, { objectId: row.id, before, after });
    return after;
  },

  'addons.retrieveEntitlements': async (context, { params }) => {
    const { id } = await knownAddon(context, params.addonId);
    return shownSet(id, await listAddonEntitlements(context.db, context.environment, id));
  },

  'addons.replaceEntitlements': async (context, { params, bodyText }) => {
    await beginCatalogueChange(context);
    const { db, environment, nowMs } = context;
    const { id } = await knownAddon(context, params.addonId);
    const before = shownSet(id, await listAddonEntitlements(db, environment, id));
    requireMatch(context, before);
    const values = await readEntitlementValues(context, bodyText);
    const after = shownSet(id, values);
    if (changedFields(before, after).length === 0) return before;
    await deleteAddonEntitlements(db, id);
    await insertAddonEntitlements(db, id, values);
    await touchAddon(db, environment, { id, updatedAt: new Date(nowMs) });
    await recordCatalogueChange(context, { objectId: id, before, after });
    await touchEntitlements(context, { addonId: id });
    return after;
  },
};

export function shownAddon({ id, key, name, processorPriceIds, createdAt, updatedAt }: AddonRow): Addon {
  return {
    id,
    key,
    name,
    ...(processorPriceIds.length === 0 ? {} : { processorPriceIds }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}

function shownSet(addonId: string, rows: readonly EntitlementValueRow[]): AddonEntitlements {
  return { addonId, entitlements: shownEntitlements(rows) };
}
