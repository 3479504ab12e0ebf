import { insertAuditEntries } from '../../../domain/store/insert-audit-entry.ts';
import { exactJson } from '../../../schemas/primitives/exact-json.ts';
import type { Database } from '../../http/request-context.ts';
import { shownOverride } from '../../overrides/shown-override.ts';
import type { NotifiedRow } from '../../store/notified-entitlements.ts';
import { findExpired } from '../../store/overrides.ts';

/**
 * Writes an audit entry for each override that has expired since its customer was last notified. Each is
 * written once: the process that notifies a customer of a later time has locked its row, and moves
 * `next_turn` beyond that time.
 */
export async function recordExpired(
  db: Database,
  { environment, now }: { environment: string; now: Date },
  rows: readonly NotifiedRow[],
): Promise<void> {
  const spans = rows.flatMap(({ customerId, nextTurn, resolvedAt }) => {
    const upTo = now > resolvedAt ? now : resolvedAt;
    if (nextTurn === null || nextTurn > upTo) return [];
    // For a customer that was touched, `resolvedAt` is already now; for one that an earlier release
    // postponed, `nextTurn` is late.
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
