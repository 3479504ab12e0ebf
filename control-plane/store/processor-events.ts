import type { Pool } from 'pg';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { ProcessorEventReason, ProcessorEventStatus } from '../../schemas/resources/integrations.ts';
import type { Database } from '../http/request-context.ts';
import { readPage } from './read-page.ts';

/** An event that waits for its subscription, or for a mapping. */
export interface WaitingEventRow {
  id: string;
  /** JSON, see control-plane/processor/kept-event.ts. */
  reading: string;
  receivedAt: Date;
  /** Null where no part of it was applied yet. */
  appliedAt: Date | null;
}

export interface NewProcessorEvent {
  id: string;
  type: string;
  processorSubscriptionId: string;
  /** The processor's own time, in the processor's order. */
  changedAt: Date;
  receivedAt: Date;
  reading: string;
}

/** The event then waits, also one that was dropped before. False when it is stored already. */
export async function keepProcessorEvent(
  db: Database,
  environment: string,
  event: NewProcessorEvent,
): Promise<boolean> {
  const { id, type, processorSubscriptionId, changedAt, receivedAt, reading } = event;
  const { rowCount } = await db.query(
    `INSERT INTO processor_events (environment, id, type, processor_subscription_id, changed_at, received_at,
                                   reading, reading_bytes, status)
     VALUES ($1, $2, $3, $4, $5, $6, $7, octet_length($7), 'unmatched')
     ON CONFLICT (environment, id) DO UPDATE
       SET reading = excluded.reading, reading_bytes = excluded.reading_bytes, status = 'unmatched',
           reasons = '{}', received_at = excluded.received_at
       WHERE processor_events.status = 'ignored' AND processor_events.reasons = '{given_up}'`,
    [environment, id, type, processorSubscriptionId, changedAt, receivedAt, reading],
  );
  return rowCount === 1;
}

/** No other transaction reads or applies an event of this subscription, or links it, until this one ends. */
export async function lockProcessorEvents(
  db: Database,
  environment: string,
  processorSubscriptionId: string,
): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `processor subscription ${environment} ${processorSubscriptionId}`,
  ]);
}

/** The events of a subscription, in the order in which they happened there. */
export async function findWaitingEvents(
  db: Database,
  environment: string,
  processorSubscriptionId: string,
): Promise<WaitingEventRow[]> {
  const { rows } = await db.query<WaitingEventRow>(
    `SELECT id, reading, received_at AS "receivedAt", applied_at AS "appliedAt" FROM processor_events
      WHERE environment = $1 AND processor_subscription_id = $2 AND status = 'unmatched'
      ORDER BY changed_at, received_at, id`,
    [environment, processorSubscriptionId],
  );
  return rows;
}

/** The outcome of an event; with the mappings that are still missing, if it waits. */
export interface EventOutcome {
  status: ProcessorEventStatus;
  reasons: ProcessorEventReason[];
  missingPrices: string[];
  missingCustomer: string | null;
  missingName: string | null;
}

/** The parsed event is deleted when it no longer waits. */
export async function settleProcessorEvent(
  db: Database,
  environment: string,
  { id, appliedAt, ...outcome }: EventOutcome & { id: string; appliedAt: Date | null },
): Promise<void> {
  const { status, reasons, missingPrices, missingCustomer, missingName } = outcome;
  await db.query(
    `UPDATE processor_events
        SET status = $3, reasons = $4, missing_prices = $5, missing_customer = $6, missing_name = $7,
            applied_at = $8, reading = CASE WHEN $3 = 'unmatched' THEN reading END,
            reading_bytes = CASE WHEN $3 = 'unmatched' THEN reading_bytes ELSE 0 END
      WHERE environment = $1 AND id = $2
        AND (status, reasons, missing_prices, missing_customer, missing_name, applied_at)
            IS DISTINCT FROM ($3, $4::text[], $5::text[], $6, $7, $8::timestamptz)`,
    [environment, id, status, reasons, missingPrices, missingCustomer, missingName, appliedAt],
  );
}

/** How much may wait. */
export interface WaitingBounds {
  ofSubscription: number;
  ofEnvironment: number;
  bytesOfEnvironment: number;
}

/**
 * Drops the oldest beyond the bounds, by the processor's time within a subscription, otherwise by ours. Rows
 * that another transaction has locked are left to the next call: it may be waiting for rows that are locked
 * here.
 */
export async function giveUpEvents(
  db: Database,
  environment: string,
  { processorSubscriptionId, ...bounds }: WaitingBounds & { processorSubscriptionId: string },
): Promise<number> {
  const { rowCount } = await db.query(
    `WITH waiting AS (
       SELECT id, processor_subscription_id, changed_at, received_at, reading_bytes FROM processor_events
        WHERE environment = $1 AND status = 'unmatched'),
     placed AS (
       SELECT id, row_number() OVER newest AS place, sum(reading_bytes) OVER newest AS bytes FROM waiting
       WINDOW newest AS (ORDER BY received_at DESC, id DESC)),
     beyond AS (
       SELECT id FROM placed WHERE place > $3 OR bytes > $4
       UNION
       (SELECT id FROM waiting WHERE processor_subscription_id = $2
         ORDER BY changed_at DESC, received_at DESC, id DESC OFFSET $5)),
     free AS (
       SELECT id FROM processor_events
        WHERE environment = $1 AND status = 'unmatched' AND id IN (SELECT id FROM beyond)
          FOR UPDATE SKIP LOCKED)
     UPDATE processor_events
        SET status = 'ignored', reasons = '{given_up}', reading = NULL, reading_bytes = 0,
            missing_prices = '{}', missing_customer = NULL, missing_name = NULL
      WHERE environment = $1 AND id IN (SELECT id FROM free)`,
    [
      environment,
      processorSubscriptionId,
      bounds.ofEnvironment,
      bounds.bytesOfEnvironment,
      bounds.ofSubscription,
    ],
  );
  return rowCount ?? 0;
}

export interface ProcessorEventRow {
  id: string;
  /** Null, like the following fields, for an event stored by an earlier release. */
  type: string | null;
  status: ProcessorEventStatus;
  reasons: ProcessorEventReason[];
  missingPrices: string[];
  processorSubscriptionId: string | null;
  subscriptionId: string | null;
  changedAt: Date | null;
  reading: string | null;
  receivedAt: Date;
}

const COLUMNS = `id, type, status, reasons, missing_prices AS "missingPrices",
  processor_subscription_id AS "processorSubscriptionId",
  (SELECT linked.id FROM subscriptions linked
    WHERE linked.environment = event.environment
      AND linked.processor_subscription_id = event.processor_subscription_id) AS "subscriptionId",
  changed_at AS "changedAt", reading, received_at AS "receivedAt"`;

export interface ProcessorEventFilter {
  status?: ProcessorEventStatus | undefined;
  processorSubscriptionId?: string | undefined;
}

export function listProcessorEvents(
  db: Database,
  environment: string,
  { status, processorSubscriptionId, ...page }: PageQuery & ProcessorEventFilter,
) {
  const values: unknown[] = [environment];
  let where = 'environment = $1';
  if (status !== undefined) where += ` AND status = $${values.push(status)}`;
  if (processorSubscriptionId !== undefined) {
    where += ` AND processor_subscription_id = $${values.push(processorSubscriptionId)}`;
  }
  const from = '(SELECT *, received_at AS created_at FROM processor_events) AS event';
  return readPage<ProcessorEventRow>(db, { columns: COLUMNS, from, where, values }, page);
}

export async function findProcessorEvent(
  db: Database,
  environment: string,
  id: string,
): Promise<ProcessorEventRow | undefined> {
  const { rows } = await db.query<ProcessorEventRow>(
    `SELECT ${COLUMNS} FROM processor_events AS event WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** A subscription of the processor with an event that waits for a mapping which exists by now. */
export interface MatchableSubscription {
  environment: string;
  processorSubscriptionId: string;
}

/** Of all environments, after a given one. */
export async function findMatchable(
  db: Database,
  after: MatchableSubscription,
  limit: number,
): Promise<MatchableSubscription[]> {
  const { rows } = await db.query<MatchableSubscription>(
    `SELECT DISTINCT environment, processor_subscription_id AS "processorSubscriptionId"
       FROM processor_events AS event
      WHERE status = 'unmatched' AND (environment, processor_subscription_id) > ($1, $2)
        AND (EXISTS (SELECT FROM processor_prices price
                      WHERE price.environment = event.environment
                        AND price.price_id = ANY (event.missing_prices))
          OR EXISTS (SELECT FROM customers customer
                      WHERE customer.environment = event.environment
                        AND customer.processor_customer_id = event.missing_customer)
          OR EXISTS (SELECT FROM customers customer
                      WHERE customer.environment = event.environment
                        AND (customer.id = event.missing_name OR customer.external_id = event.missing_name)))
      ORDER BY environment, processor_subscription_id LIMIT $3`,
    [after.environment, after.processorSubscriptionId, limit],
  );
  return rows;
}

/**
 * Deletes at most `rowsMax` that are too old to be sent again: Stripe resends an event for 3 days by itself,
 * and for 30 days on request. Returns how many were deleted.
 */
export async function forgetProcessorEvents(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM processor_events WHERE ctid IN (
       SELECT ctid FROM processor_events WHERE received_at < now() - interval '35 days' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
