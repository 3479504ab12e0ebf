import { insertAuditEntries } from '../../../domain/store/insert-audit-entry.ts';
import { exactJson } from '../../../schemas/primitives/exact-json.ts';
import type { Database } from '../../http/request-context.ts';
import { shownOverride } from '../../overrides/shown-override.ts';
import type { NotifiedRow } from '../../store/notified-entitlements.ts';
import { findExpired } from '../../store/overrides.ts';

/**
 * Leaves an entry in the audit log of each override that has expired since its customer was told last. Once:
 * whoever tells a customer of a later moment has its row locked, and moves its next turn beyond it.
 */
export async function recordExpired(
  db: Database,
  { environment, now }: { environment: string; now: Date },
  rows: readonly NotifiedRow[],
): Promise<void> {
  const spans = rows.flatMap(({ customerId, nextTurn, resolvedAt }) => {
    const upTo = now > resolvedAt ? now : resolvedAt;
    if (nextTurn === null || nextTurn > upTo) return [];
    // Of one that was touched `resolvedAt` is now already; of one that an earlier release put off
    // `nextTurn` is late.
    const after = new Date(Math.min(resolvedAt.getTime(), nextTurn.getTime() - 1));
    return [{ customerId, after, upTo }];
  });
  if (spans.length === 0) return;
  const entries = (await findExpired(db, environment, spans)).map((row) => ({
    environment,
    actor: 'clock',
    action: 'overrides.expire',
    objectId: row.id,
    before: exactJson(shownOverride(row)),
    after: null,
    requestId: null,
    createdAt: now,
  }));
  if (entries.length > 0) await insertAuditEntries(db, entries);
}
