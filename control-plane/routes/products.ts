import { Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Product } from '../../schemas/resources/products.ts';
import { beginCatalogueChange, recordCatalogueChange } from '../changes/catalogue-change.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { insertProduct, listProducts, type ProductRow } from '../store/products.ts';

type ProductOperation = Extract<keyof Handlers, `products.${string}`>;

export const productHandlers: Pick<Handlers, ProductOperation> = {
  'products.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listProducts(db, environment, query);
    return pageOf(rows.map(shownProduct), total, query);
  },

  'products.create': async (context, { body: { id = newId('prod'), name } }) => {
    await beginCatalogueChange(context);
    const made = await makeProduct(context, id, name);
    if (!made) throw new Rejected('already_exists', 'Another product has this id.', { param: 'id' });
    return made;
  },
};

/** For a plan that names it. */
export async function registerProduct(context: RequestContext, id: string): Promise<void> {
  await makeProduct(context, id, id);
}

/** Undefined when there is one of this id. */
async function makeProduct(context: RequestContext, id: string, name: string): Promise<Product | undefined> {
  const { db, environment, nowMs } = context;
  const row = await insertProduct(db, environment, { id, name, createdAt: new Date(nowMs) });
  if (!row) return undefined;
  const after = shownProduct(row);
  await recordCatalogueChange(context, { objectId: id, after });
  return after;
}

export function shownProduct({ id, name, createdAt }: ProductRow): Product {
  return { id, name, createdAt: timestampText(createdAt.getTime()) };
}
