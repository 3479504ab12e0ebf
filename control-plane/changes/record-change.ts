import { emitEvents } from '../../domain/emit-events.ts';
import { insertAuditEntry } from '../../domain/store/insert-audit-entry.ts';
import type { ChangeEvent } from '../../schemas/events.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import type { Database } from '../http/request-context.ts';

/** The actor and the time of a change. A request's context is one. */
export interface ChangeContext {
  /** The transaction of the change. */
  db: Database;
  environment: string;
  /** A key's id, or `operator`, `clock`, `processor`. */
  actor: string;
  /** What is done, as the audit log names it. */
  operationId: string;
  requestId?: string;
  nowMs: number;
  /** When the change took effect, if that was earlier: the processor reports a change after it was made. */
  since?: Date;
}

/** One object before and after the change. Users see both in the audit log: they contain no secret. */
export interface Change {
  objectId: string;
  before?: object | undefined;
  after?: object | undefined;
  /** An event about another object names that object. */
  events?: Array<ChangeEvent & { objectId?: string }>;
}

/** Writes the audit entry and the outbox events of a change, in the change's own transaction. */
export async function recordChange(context: ChangeContext, change: Change): Promise<void> {
  const { db, environment, actor, operationId, requestId = null, nowMs } = context;
  const { objectId, before, after, events = [] } = change;
  await insertAuditEntry(db, {
    environment,
    actor,
    action: operationId,
    objectId,
    before: before ? exactJson(before) : null,
    after: after ? exactJson(after) : null,
    requestId,
    createdAt: new Date(nowMs),
  });
  const notified = events.map((event) => ({ objectId, ...event }));
  // mutant: event-outside-its-transaction
  await emitEvents(db, { environment, nowMs, events: notified });
}
