import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

export interface ProductRow {
  /** The caller's own, or `prod_…`. */
  id: string;
  name: string;
  createdAt: Date;
}

const COLUMNS = 'id, name, created_at AS "createdAt"';

/** Undefined when the environment has a product of this id. */
export async function insertProduct(
  db: Database,
  environment: string,
  { id, name, createdAt }: ProductRow,
): Promise<ProductRow | undefined> {
  const { rows } = await db.query<ProductRow>(
    `INSERT INTO products (environment, id, name, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (environment, id) DO NOTHING
     RETURNING ${COLUMNS}`,
    [environment, id, name, createdAt],
  );
  return rows[0];
}

export function listProducts(db: Database, environment: string, query: PageQuery) {
  return readPage<ProductRow>(db, productList(environment), query);
}

export function productList(environment: string): List {
  return { columns: COLUMNS, from: 'products', where: 'environment = $1', values: [environment] };
}
