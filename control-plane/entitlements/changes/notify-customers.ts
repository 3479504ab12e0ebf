import { type EmittedEvent, emitEvents } from '../../../domain/emit-events.ts';
import { type NotifiedValues, notifiedChanges } from '../../../domain/rules/entitlement-changes.ts';
import { markFeatures } from '../../../domain/store/settlement-marks.ts';
import type { Database } from '../../http/request-context.ts';
import { readGrantedValues } from '../../store/granted-values.ts';
import { type NotifiedRow, writeNotified } from '../../store/notified-entitlements.ts';
import { recordExpired } from './record-expired.ts';
import { recordMeteredTerms } from './record-metered-terms.ts';

/**
 * Notifies customers, with locked rows, of each feature whose value differs from the last notification,
 * and records the new values, and what expired meanwhile, in the same transaction. Returns the number of
 * events. It reads the grants once it has the lock: two concurrent changes are notified one after the
 * other, the last one with the result of both. What it means for metered usage is recorded from the time of
 * the change on.
 */
export async function notifyCustomers(
  db: Database,
  { environment, nowMs, sinceMs = () => nowMs }: NotifyContext,
  rows: readonly NotifiedRow[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const since = rows.map((row) => ({ customerId: row.customerId, sinceMs: Math.min(nowMs, sinceMs(row)) }));
  await recordMeteredTerms(db, { environment, nowMs }, since);
  const requested = rows.map(({ customerId, resolvedAt }) => ({ customerId, at: later(resolvedAt, nowMs) }));
  await recordExpired(db, { environment, now: new Date(nowMs) }, rows);
  const granted = new Map(
    (await readGrantedValues(db, environment, requested)).map((one) => [one.customerId, one]),
  );
  const events: EmittedEvent[] = [];
  const changed: Array<{ customerId: string; featureKey: string }> = [];
  const written: NotifiedRow[] = [];
  for (const row of rows) {
    const { customerId, notified, resolvedAt } = row;
    const { granted: now = NOTHING, nextTurn = null } = granted.get(customerId) ?? {};
    const changes = notifiedChanges(notified, now);
    for (const change of changes) {
      changed.push({ customerId, featureKey: change.featureKey });
      events.push({ type: 'entitlement.changed', objectId: customerId, data: { customerId, ...change } });
    }
    if (changes.length === 0 && nextTurn?.getTime() === row.nextTurn?.getTime()) continue;
    written.push({ customerId, notified: now, resolvedAt: later(resolvedAt, nowMs), nextTurn });
  }
  await emitEvents(db, { environment, nowMs, events });
  // Another limit has another threshold, and another part of usage to be paid.
  if (changed.length > 0) await markFeatures(db, environment, { held: changed, from: new Date(nowMs) });
  if (written.length > 0) await writeNotified(db, environment, written);
  return events.length;
}

export interface NotifyContext {
  environment: string;
  nowMs: number;
  /** When the values took effect; left out: now. */
  sinceMs?: (row: NotifiedRow) => number;
}

/** Of one that is archived. */
const NOTHING: NotifiedValues = {};

/** A clock that is behind that of another process reverts nothing. */
function later(resolvedAt: Date, nowMs: number): Date {
  return new Date(Math.max(resolvedAt.getTime(), nowMs));
}
