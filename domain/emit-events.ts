import type { Pool, PoolClient } from 'pg';
import type { ChangeEvent } from '../schemas/events.ts';
import { splitEnvironment } from '../schemas/primitives/environment.ts';
import { exactJson } from '../schemas/primitives/exact-json.ts';
import { newId } from '../schemas/primitives/ids.ts';
import { timestampText } from '../schemas/primitives/timestamp.ts';
import { insertEvents } from './store/insert-events.ts';

/** One event, and the object that it reports. */
export type EmittedEvent = ChangeEvent & { objectId: string };

/** Of one environment. */
export interface Notifying {
  environment: string;
  /** Their `created_at`. */
  nowMs: number;
  events: readonly EmittedEvent[];
}

/** Puts events into the outbox, in the transaction of what they report; in one statement, however many. */
export async function emitEvents(
  db: Pool | PoolClient,
  { environment, nowMs, events }: Notifying,
): Promise<void> {
  await emitEverywhere(
    db,
    nowMs,
    events.map((event) => ({ environment, ...event })),
  );
}

/** The same for events of several environments. */
export async function emitEverywhere(
  db: Pool | PoolClient,
  nowMs: number,
  events: ReadonlyArray<EmittedEvent & { environment: string }>,
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...event, ...envelopeOf(event, nowMs) }));
  await insertEvents(db, { createdAt: new Date(nowMs), rows });
}

/**
 * The envelope (`envelopeSchema` of schemas/events.ts). Its bytes are made here, once: what is signed is what
 * is stored.
 */
function envelopeOf({ environment, type, data }: EmittedEvent & { environment: string }, nowMs: number) {
  const id = newId('evt');
  const { workspaceId } = splitEnvironment(environment);
  const envelope = { id, type, workspace_id: workspaceId, created_at: timestampText(nowMs), data };
  return { id, body: exactJson(envelope) };
}
