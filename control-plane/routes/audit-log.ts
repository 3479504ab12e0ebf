import type { AuditEntryRow } from '../../domain/store/insert-audit-entry.ts';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { AuditEntry } from '../../schemas/resources/audit-log.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers } from '../http/request-context.ts';
import { listAuditEntries } from '../store/audit-log.ts';
import { openSpan } from '../usage/window.ts';

export const auditLogHandlers: Pick<Handlers, 'auditLog.list'> = {
  'auditLog.list': async ({ db, environment }, { query }) => {
    const { from, to, ...filter } = query;
    const span = openSpan({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
    const { rows, total } = await listAuditEntries(db, environment, { ...filter, span });
    return pageOf(rows.map(shownAuditEntry), total, query);
  },
};

export function shownAuditEntry(row: AuditEntryRow): AuditEntry {
  const { actor, action, objectId, before, after, requestId, createdAt } = row;
  return {
    actor,
    action,
    objectId,
    ...(before === null ? {} : { before: snapshot(before) }),
    ...(after === null ? {} : { after: snapshot(after) }),
    ...(requestId === null ? {} : { requestId }),
    createdAt: timestampText(createdAt.getTime()),
  };
}

/** jsonb keeps every digit, and its text is parsed without a double. */
function snapshot(json: string): Record<string, unknown> {
  return parseExact(json) as Record<string, unknown>;
}
