import type { AuditEntryRow } from '../../domain/store/insert-audit-entry.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

const COLUMNS = `environment, actor, action, object_id AS "objectId", before::text AS before,
  after::text AS after, request_id AS "requestId", created_at AS "createdAt"`;

export interface AuditFilter {
  /** from ≤ created < to. */
  span: { fromMs: number; toMs: number };
  actor?: string | undefined;
  action?: string | undefined;
  objectId?: string | undefined;
  /** Its id or external id. */
  customerId?: string | undefined;
}

/** As the index audit_log_of_customer has it: of the snapshots, those of customers alone name none. */
const CUSTOMER = "COALESCE(after->>'customerId', before->>'customerId', object_id)";

export function listAuditEntries(db: Database, environment: string, query: PageQuery & AuditFilter) {
  return readPage<AuditEntryRow>(db, auditList(environment, query), query);
}

export function auditList(environment: string, filter: AuditFilter): List {
  const { span, actor, action, objectId, customerId } = filter;
  const values: unknown[] = [environment, new Date(span.fromMs), new Date(span.toMs)];
  let where = 'environment = $1 AND created_at >= $2 AND created_at < $3';
  if (actor !== undefined) where += ` AND actor = $${values.push(actor)}`;
  if (action !== undefined) where += ` AND action = $${values.push(action)}`;
  if (objectId !== undefined) where += ` AND object_id = $${values.push(objectId)}`;
  if (customerId !== undefined) {
    const name = `$${values.push(customerId)}`;
    where += ` AND ${CUSTOMER} =
      (SELECT id FROM customers WHERE environment = $1 AND (id = ${name} OR external_id = ${name}))`;
  }
  return { columns: COLUMNS, from: 'audit_log', where, values };
}
