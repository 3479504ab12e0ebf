import type { Pool, PoolClient } from 'pg';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { UsageSelection } from '../../schemas/resources/usage-corrections.ts';
import type { Database } from '../http/request-context.ts';
import { readPage } from './read-page.ts';

/** What a record of an event has, apart from its idempotency key (infra/ports/usage-writer.ts). */
export interface RecordedUsage {
  customerId: string;
  meterId: string;
  /** Canonical decimal text. */
  value: string;
  /** RFC 3339. */
  occurredAt: string;
  /** A JSON object; null: none. */
  properties: string | null;
}

/** Of one event. All that its records are made of is here: they are written again after a crash. */
export interface EventRequest {
  reason?: string | undefined;
  eventId: string;
  /** The change that the event is itself of. */
  ofChange: number;
  voided: RecordedUsage;
  /** Of an amendment: what counts in its place. */
  added?: RecordedUsage | undefined;
}

/** Of many events. */
export interface SelectionRequest {
  reason?: string | undefined;
  /** As it was asked for. */
  select: UsageSelection;
  /** Ids, not the names that were asked for. */
  customerId?: string | undefined;
  meterKey?: string | undefined;
}

interface CorrectionFacts {
  number: number;
  environment: string;
  id: string;
  state: 'open' | 'closing' | 'visible' | 'reverted';
  voided: number;
  createdBy: string;
  createdAt: Date;
  visibleAt: Date | null;
}

export interface EventCorrectionRow extends CorrectionFacts {
  kind: 'void' | 'amendment';
  request: EventRequest;
  /** The JSON of the event in its place, once that is durable. */
  addedEvent: string | null;
}

export interface SelectionRow extends CorrectionFacts {
  kind: 'selection';
  request: SelectionRequest;
  /** Of the last event that was read; null before the first. */
  position: SelectionPosition | null;
}

export interface SelectionPosition {
  customerId: string;
  meterKey: string;
  occurredAtMs: number;
  id: string;
}

export type CorrectionRow = EventCorrectionRow | SelectionRow;

const COLUMNS = `number, environment, id, kind, state, request, voided, added_event::text AS "addedEvent",
  position, created_by AS "createdBy", created_at AS "createdAt", visible_at AS "visibleAt"`;
const OURS = `kind IN ('void', 'amendment', 'selection')`;

/** Changes of an environment are decided one after the other: none voids what another one has voided. */
export async function lockCorrections(db: PoolClient, environment: string): Promise<void> {
  await db.query('SELECT FROM environments WHERE id = $1 FOR NO KEY UPDATE', [environment]);
}

/** Its state, locked for this transaction. */
export async function lockCorrection(
  db: PoolClient,
  number: number,
): Promise<CorrectionRow['state'] | undefined> {
  const { rows } = await db.query<Pick<CorrectionRow, 'state'>>(
    'SELECT state FROM usage_changes WHERE number = $1 FOR NO KEY UPDATE',
    [number],
  );
  return rows[0]?.state;
}

/** What took the event away. */
export async function findVoidOf(
  db: Database,
  environment: string,
  eventId: string,
): Promise<CorrectionRow | undefined> {
  const { rows } = await db.query<CorrectionRow>(
    `SELECT ${COLUMNS} FROM usage_changes WHERE number =
       (SELECT change FROM usage_voids WHERE environment = $1 AND event_id = $2)`,
    [environment, eventId],
  );
  return rows[0];
}

export async function findCorrection(
  db: Database,
  environment: string,
  id: string,
): Promise<CorrectionRow | undefined> {
  const { rows } = await db.query<CorrectionRow>(
    `SELECT ${COLUMNS} FROM usage_changes WHERE environment = $1 AND id = $2 AND ${OURS}`,
    [environment, id],
  );
  return rows[0];
}

export async function listCorrections(
  db: Database,
  environment: string,
  page: PageQuery,
): Promise<{ rows: CorrectionRow[]; total: number }> {
  const from = { columns: COLUMNS, from: 'usage_changes', where: `environment = $1 AND ${OURS}` };
  return readPage<CorrectionRow>(db, { ...from, values: [environment] }, page);
}

export interface LedgerVoid {
  id: string;
  customerId: string;
  meterKey: string;
  occurredAtMs: number;
  /** The change that the event is itself of. */
  change: number;
}

/** Takes events away for this change. Returns the ids of those that nothing had taken away before. */
export async function insertVoids(
  db: PoolClient,
  { environment, number }: Pick<CorrectionRow, 'environment' | 'number'>,
  events: readonly LedgerVoid[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `WITH taken AS (
       INSERT INTO usage_voids (environment, event_id, change, of_change, customer_id, meter_key, occurred_at)
       SELECT $1, event_id, $2, of_change, customer_id, meter_key, occurred_at
         FROM unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::timestamptz[])
           AS given (event_id, of_change, customer_id, meter_key, occurred_at)
        ORDER BY event_id
       ON CONFLICT DO NOTHING RETURNING event_id
     ), counted AS (
       UPDATE usage_changes SET voided = voided + (SELECT count(*) FROM taken) WHERE number = $2
     )
     SELECT event_id AS id FROM taken`,
    [
      environment,
      number,
      events.map(({ id }) => id),
      events.map(({ change }) => change),
      events.map(({ customerId }) => customerId),
      events.map(({ meterKey }) => meterKey),
      events.map(({ occurredAtMs }) => new Date(occurredAtMs)),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Their records are durable on the log. */
export async function markVoidsWritten(
  db: Pool | PoolClient,
  change: number,
  eventIds: readonly string[],
): Promise<void> {
  await db.query('UPDATE usage_voids SET written = true WHERE change = $1 AND event_id = ANY ($2)', [
    change,
    eventIds,
  ]);
}

export async function keepAddedEvent(db: PoolClient, number: number, event: string): Promise<void> {
  await db.query('UPDATE usage_changes SET added_event = $2 WHERE number = $1', [number, event]);
}

/** What a crash may have left, and selections, which the job does: the oldest. */
export async function nextOpenCorrection(
  db: Pool,
  { begunBefore, except }: { begunBefore: Date; except: readonly number[] },
): Promise<CorrectionRow | undefined> {
  const { rows } = await db.query<CorrectionRow>(
    `SELECT ${COLUMNS} FROM usage_changes
      WHERE state = 'open' AND ${OURS} AND (kind = 'selection' OR created_at < $1) AND number <> ALL ($2)
      ORDER BY number LIMIT 1`,
    [begunBefore, except],
  );
  return rows[0];
}

/** Those that are visible and have no webhook event yet, the oldest first. They have one from now on. */
export async function takeUnannounced(db: PoolClient, at: Date, limit: number): Promise<CorrectionRow[]> {
  const { rows } = await db.query<CorrectionRow>(
    `UPDATE usage_changes SET announced_at = $1 WHERE number IN (
       SELECT number FROM usage_changes WHERE state = 'visible' AND announced_at IS NULL AND ${OURS}
        ORDER BY number LIMIT $2)
     RETURNING ${COLUMNS}`,
    [at, limit],
  );
  return rows.sort((one, other) => one.number - other.number);
}

/** What else there is to say of events: by the voided event's id, and by the change that an event is of. */
export interface EventLinks {
  supersededBy: ReadonlyMap<string, string>;
  supersedes: ReadonlyMap<number, string>;
}

export async function findEventLinks(
  db: Database,
  environment: string,
  { voided, changes }: { voided: readonly string[]; changes: readonly number[] },
): Promise<EventLinks> {
  const { rows } = await db.query<{ number: number; eventId: string; newEventId: string }>(
    `SELECT number, request->>'eventId' AS "eventId", added_event->>'id' AS "newEventId"
       FROM usage_changes
      WHERE environment = $1 AND kind = 'amendment' AND added_event IS NOT NULL AND number IN (
        SELECT unnest($3::bigint[]) UNION ALL
        SELECT change FROM usage_voids WHERE environment = $1 AND event_id = ANY ($2))`,
    [environment, voided, changes],
  );
  return {
    supersededBy: new Map(rows.map(({ eventId, newEventId }) => [eventId, newEventId])),
    supersedes: new Map(rows.map(({ number, eventId }) => [number, eventId])),
  };
}
