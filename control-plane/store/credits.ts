import { type GrantRow, RECURRING } from '../../domain/store/credit-grants.ts';
import type { LedgerEntry } from '../../domain/store/credit-ledger.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, listOf, readPage } from './read-page.ts';

/** A customer with one of its open grants; a customer without any has one row with nulls. */
export type CreditsRow = { customerId: string; unpaid: string | null } & (
  | GrantRow
  | { [Name in keyof Omit<GrantRow, 'customerId'>]: null }
);

/** One statement, hence one snapshot: the grants that have something left, in the order they are burned. */
export async function readCredits(
  db: Database,
  environment: string,
  { customer, at }: { customer: string; at: Date },
): Promise<CreditsRow[]> {
  const { rows } = await db.query<CreditsRow>(
    `${CREDITS} WHERE c.environment = $1 AND (c.id = $3 OR c.external_id = $3) ${IN_ORDER}`,
    [environment, at, customer],
  );
  return rows;
}

/** The same of several customers, by id. */
export async function readCreditsOf(
  db: Database,
  environment: string,
  { ids, at }: { ids: readonly string[]; at: Date },
): Promise<CreditsRow[]> {
  const { rows } = await db.query<CreditsRow>(
    `${CREDITS} WHERE c.environment = $1 AND c.id = ANY ($3) ${IN_ORDER}`,
    [environment, at, ids],
  );
  return rows;
}

const CREDITS = `SELECT c.id AS "customerId", w.unpaid, g.id, g.environment, g.amount, g.remaining, g.reason,
          g.priority, g.expires_at AS "expiresAt", g.created_at AS "createdAt", ${RECURRING}
     FROM customers c
     LEFT JOIN credit_wallets w ON w.environment = c.environment AND w.customer_id = c.id
     LEFT JOIN credit_grants g ON g.environment = c.environment AND g.customer_id = c.id
      AND g.remaining > 0 AND (g.expires_at IS NULL OR g.expires_at > $2)`;
const IN_ORDER = 'ORDER BY g.priority, g.expires_at NULLS LAST, g.created_at, g.id COLLATE "C"';

/** Of a locked customer; grants that have expired by now do not count. */
export async function countOpenGrants(
  db: Database,
  environment: string,
  { customerId, at }: { customerId: string; at: Date },
): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    `SELECT count(*) AS open FROM credit_grants
      WHERE environment = $1 AND customer_id = $2 AND remaining > 0
        AND (expires_at IS NULL OR expires_at > $3)`,
    [environment, customerId, at],
  );
  return rows[0]?.open ?? 0;
}

export interface LedgerRow extends Pick<LedgerEntry, 'type' | 'amount' | 'unpaid'> {
  grantId: string | null;
  meterKey: string | null;
  periodStart: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const LEDGER_COLUMNS = `type, amount, unpaid, grant_id AS "grantId", meter_key AS "meterKey",
  period_start AS "periodStart", created_at AS "createdAt", updated_at AS "updatedAt"`;

export function listLedger(db: Database, environment: string, query: PageQuery & { customerId: string }) {
  return readPage<LedgerRow>(db, listOf(ledgerList(environment), 'customer_id', query.customerId), query);
}

export function ledgerList(environment: string): List {
  return {
    columns: LEDGER_COLUMNS,
    from: 'credit_ledger',
    where: 'environment = $1',
    values: [environment],
  };
}
