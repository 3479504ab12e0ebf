import { mergedWithin } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { CustomerMeter } from '../usage/customer-meter.ts';
import { customerMeterParams, OF_CUSTOMER_METER } from './usage-sql.ts';

export interface StoredEvent {
  id: string;
  /** Decimal text. */
  value: string;
  occurredAtMs: number;
  createdAtMs: number;
  /** Names and stored texts (schemas/stored/event-row.ts), in the stored order. */
  properties: Array<[string, string]>;
  /** The change of usage that it is of; 0 of ordinary usage. */
  change: number;
  /** It counts no more. */
  isVoided: boolean;
}

/** Of the last event of the previous page. */
export interface EventPlace {
  occurredAtMs: number;
  id: string;
}

export interface EventsQuestion {
  customerMeter: CustomerMeter;
  span: Span;
  after: EventPlace | undefined;
  limit: number;
}

const TIMEOUT_MS = 10_000;

const COLUMNS = `id, toString(value) AS amount, mapKeys(properties) AS names, mapValues(properties) AS texts,
  toUnixTimestamp64Milli(occurred_at) AS occurredAtMs, toUnixTimestamp64Milli(created_at) AS createdAtMs`;

/**
 * Events of one customer and meter, voided ones too, oldest first, ties by id. Throws Transient.
 *
 * The order begins like the table's sort key, so that ClickHouse reads the hours one after the other and
 * stops at the limit: every page costs the same. Newest first it would read and sort all of them, since FINAL
 * cannot be read backwards.
 */
export async function readUsageEvents(
  { warehouse, view }: ViewedUsage,
  question: EventsQuestion,
): Promise<StoredEvent[]> {
  const { customerMeter, span, after, limit } = question;
  const sources = usageSources(view);
  const rows = await warehouse.query<Row>({
    sql: `
SELECT ${COLUMNS}${sources.isPlain ? '' : STATUS}
  FROM ${sources.listed(OF_PAGE, IN_ORDER, { isFinal: true })}${IN_ORDER}`,
    params: {
      ...customerMeterParams(customerMeter),
      from: Math.max(span.fromMs, after?.occurredAtMs ?? span.fromMs),
      to: span.toMs,
      afterMs: after?.occurredAtMs ?? -1,
      afterId: after?.id ?? '',
      limit,
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(eventOf);
}

const STATUS = ', toString(change) AS ofChange, isVoided';
const OF_PAGE = `
 WHERE ${OF_CUSTOMER_METER} AND ${mergedWithin('from', 'to')}
   AND (occurred_at > fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC') OR id > {afterId:String})`;
const IN_ORDER = `
 ORDER BY environment, customer_id, meter_key, toStartOfHour(occurred_at), occurred_at, id
 LIMIT {limit:UInt32}`;

export interface FoundEvent extends StoredEvent {
  customerId: string;
  meterKey: string;
}

/** Rows with one id: an id that was counted more than once, by a fault, is shown. */
const FOUND_MAX = 10;

/**
 * The event with this id, of any customer, also when it is voided. Throws Transient.
 *
 * The index `id_filter` leaves about a hundredth of the table's granules, those that may have the id. Without
 * FINAL, which would read ranges of the sort key around them: of rows with one sort key the earliest counts.
 */
export async function findUsageEvents(
  { warehouse, view }: ViewedUsage,
  params: { environment: string; id: string },
): Promise<FoundEvent[]> {
  const sources = usageSources(view);
  const rows = await warehouse.query<FoundRow>({
    sql: `
SELECT ${foundColumns(sources)}
  FROM ${sources.listed(WITH_ID, EARLIEST, { isFinal: false })}${EARLIEST}`,
    params,
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(foundEvent);
}

export type FoundRow = Row & Pick<FoundEvent, 'customerId' | 'meterKey'>;

/** Of what is listed, with whose it is. */
export function foundColumns({ isPlain }: UsageSources): string {
  return `${COLUMNS}, customer_id AS customerId, meter_key AS meterKey${isPlain ? '' : STATUS}`;
}

export function foundEvent({ customerId, meterKey, ...row }: FoundRow): FoundEvent {
  return { ...eventOf(row), customerId, meterKey };
}

const WITH_ID = `
 WHERE environment = {environment:String} AND id = {id:String}`;
const EARLIEST = `
 ORDER BY created_at
 LIMIT 1 BY customer_id, meter_key, toStartOfHour(occurred_at)
 LIMIT ${FOUND_MAX}`;

interface Row {
  id: string;
  amount: string;
  names: string[];
  texts: string[];
  occurredAtMs: string;
  createdAtMs: string;
  ofChange?: string;
  isVoided?: number | string;
}

function eventOf({ id, amount, names, texts, occurredAtMs, createdAtMs, ...status }: Row): StoredEvent {
  return {
    id,
    value: amount,
    occurredAtMs: Number(occurredAtMs),
    createdAtMs: Number(createdAtMs),
    properties: names.map((name, at) => [name, texts[at] ?? '']),
    change: Number(status.ofChange ?? 0),
    isVoided: Number(status.isVoided ?? 0) === 1,
  };
}
