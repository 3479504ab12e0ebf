import type { AddonPrices } from '../../schemas/resources/addons.ts';
import { beginCatalogueChange, recordCatalogueChange } from '../changes/catalogue-change.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { knownAddon } from '../changes/known-addon.ts';
import { requireMatch } from '../http/etag.ts';
import type { Handlers } from '../http/request-context.ts';
import { readPrices, shownPrices } from '../input/read-prices.ts';
import { touchAddon } from '../store/addons.ts';
import { findAddonPrices, putAddonPrices, type StoredPrice } from '../store/price-sets.ts';

export const addonPriceHandlers: Pick<Handlers, 'addons.retrievePrices' | 'addons.replacePrices'> = {
  'addons.retrievePrices': async (context, { params }) => {
    const { id } = await knownAddon(context, params.addonId);
    return shownSet(id, await findAddonPrices(context.db, id));
  },

  'addons.replacePrices': async (context, { params, bodyText }) => {
    await beginCatalogueChange(context);
    const { db, environment, nowMs } = context;
    const { id } = await knownAddon(context, params.addonId);
    const before = shownSet(id, await findAddonPrices(db, id));
    requireMatch(context, before);
    const prices = await readPrices(context, bodyText);
    const after = shownSet(id, prices);
    if (changedFields(before, after).length === 0) return before;
    await putAddonPrices(db, id, { prices, nowMs });
    await touchAddon(db, environment, { id, updatedAt: new Date(nowMs) });
    await recordCatalogueChange(context, { objectId: id, before, after });
    return after;
  },
};

function shownSet(addonId: string, prices: readonly StoredPrice[]): AddonPrices {
  return { addonId, prices: shownPrices(prices) };
}
