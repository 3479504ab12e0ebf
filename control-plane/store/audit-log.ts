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
}

export function listAuditEntries(db: Database, environment: string, query: PageQuery & AuditFilter) {
  return readPage<AuditEntryRow>(db, auditList(environment, query), query);
}

export function auditList(environment: string, { span, actor, action, objectId }: AuditFilter): List {
  const values: unknown[] = [environment, new Date(span.fromMs), new Date(span.toMs)];
  let where = 'environment = $1 AND created_at >= $2 AND created_at < $3';
  if (actor !== undefined) where += ` AND actor = $${values.push(actor)}`;
  if (action !== undefined) where += ` AND action = $${values.push(action)}`;
  if (objectId !== undefined) where += ` AND object_id = $${values.push(objectId)}`;
  return { columns: COLUMNS, from: 'audit_log', where, values };
}
