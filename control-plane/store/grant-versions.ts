/** A cache of customer grants compares these marks to find out whether its entries are still valid. */
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { Database } from '../http/request-context.ts';

/** A text that changes with a customer's row, its grants, the catalogue or its credits. */
export interface CustomerGrantsMark {
  customerId: string;
  mark: string;
}

/**
 * A row has changed when another transaction wrote it last: every write sets xmin, so no statement can forget
 * it.
 */
const MARK = `concat_ws(' ', c.xmin, coalesce(notified.version, 0), coalesce(catalogue.version, 0),
  coalesce(wallet.xmin::text, '-'), held_by.subscriptions)`;

const OF_CUSTOMER = `
  LEFT JOIN entitlements_told notified ON notified.environment = c.environment AND notified.customer_id = c.id
  LEFT JOIN catalogue_versions catalogue ON catalogue.environment = c.environment
  LEFT JOIN credit_wallets wallet ON wallet.environment = c.environment AND wallet.customer_id = c.id
  LEFT JOIN LATERAL (
    SELECT string_agg(s.written::text, ' ' ORDER BY s.id) AS subscriptions
      FROM ${rowsBy('subscriptions', 'customer_id', 'c.id')} s
     WHERE s.environment = c.environment AND s.status <> 'canceled'
  ) held_by ON true`;

export interface SizedMark extends CustomerGrantsMark {
  /** How many subscriptions, grants and overrides it has, counted up to the given bound. */
  grants: number;
}

/** Of the customer with this id or external id. */
export async function readSizedMark(
  db: Database,
  environment: string,
  { customer, grantsMax }: { customer: string; grantsMax: number },
): Promise<SizedMark | undefined> {
  const { rows } = await db.query<SizedMark>(
    `SELECT c.id AS "customerId", ${MARK} AS mark, size.grants
       FROM customers c ${OF_CUSTOMER} CROSS JOIN LATERAL (${SIZE}) size
      WHERE c.environment = $1 AND (c.id = $2 OR c.external_id = $2)`,
    [environment, customer, grantsMax + 1],
  );
  return rows[0];
}

/** For the existing ones of these customers, by id: how many grants each has, up to a bound and one more. */
export async function readGrantCounts(
  db: Database,
  environment: string,
  { customerIds, grantsMax }: { customerIds: readonly string[]; grantsMax: number },
): Promise<Array<Pick<SizedMark, 'customerId' | 'grants'>>> {
  const { rows } = await db.query<Pick<SizedMark, 'customerId' | 'grants'>>(
    `SELECT c.id AS "customerId", size.grants FROM customers c CROSS JOIN LATERAL (${SIZE}) size
      WHERE c.environment = $1 AND c.id = ANY ($2)`,
    [environment, customerIds, grantsMax + 1],
  );
  return rows;
}

/** Of the customer `c`; no part is counted beyond `$3`. */
const SIZE = `SELECT count(*) AS grants FROM (
  (SELECT FROM subscriptions s
     LEFT JOIN plans p ON p.id = s.plan_id AND p.environment = s.environment
     LEFT JOIN plan_entitlements pe ON pe.plan_id = p.id AND pe.version = coalesce(s.plan_version, p.version)
    WHERE s.customer_id = c.id AND s.environment = c.environment
      AND s.status NOT IN ('canceled', 'incomplete_expired') LIMIT $3)
  UNION ALL
  (SELECT FROM subscriptions s
     JOIN subscription_addons sa ON sa.subscription_id = s.id
     JOIN addon_entitlements ae ON ae.addon_id = sa.addon_id
    WHERE s.customer_id = c.id AND s.environment = c.environment
      AND s.status NOT IN ('canceled', 'incomplete_expired') LIMIT $3)
  UNION ALL
  (SELECT FROM overrides o WHERE o.customer_id = c.id AND o.environment = c.environment LIMIT $3)) counted`;

/** For the existing ones of these customers. */
export async function readMarks(
  db: Database,
  places: ReadonlyArray<{ environment: string; customerId: string }>,
): Promise<CustomerGrantsMark[]> {
  const { rows } = await db.query<CustomerGrantsMark>(
    `SELECT c.id AS "customerId", ${MARK} AS mark
       FROM unnest($1::text[], $2::text[]) AS wanted (environment, customer_id)
       JOIN customers c ON c.environment = wanted.environment AND c.id = wanted.customer_id ${OF_CUSTOMER}`,
    [places.map(({ environment }) => environment), places.map(({ customerId }) => customerId)],
  );
  return rows;
}
