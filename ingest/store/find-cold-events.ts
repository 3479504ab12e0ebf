import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { base32 } from '../../schemas/primitives/ids.ts';

/** An event that is older than what the key store still knows, by its place in `events`. */
export interface ColdItem {
  /** Its number in the request. */
  item: number;
  /** `"environment","customer id","meter key"`. */
  customerMeter: string;
  occurredAtMs: number;
  /** 16 bytes. */
  id: Uint8Array;
}

/** What is stored under one of the ids. */
export interface ColdEvent {
  fingerprint: bigint;
  /** The first one's: a replay may have another. */
  occurredAtMs: number;
  createdAtMs: number;
}

/** Numbers as text: some are larger than a double holds. */
type Row = Record<'id' | 'fingerprint' | 'occurredAtMs' | 'createdAtMs', string>;

const TIMEOUT_MS = 800;
const HOUR_S = 3_600;

/**
 * By the whole sort key, which a replay repeats: points, where an id alone would be a scan. By item. Throws
 * Transient `warehouse_unavailable`.
 */
export async function findColdEvents(
  warehouse: Pick<Warehouse, 'query'>,
  items: readonly ColdItem[],
): Promise<Map<number, ColdEvent>> {
  const places = items.map(({ item, customerMeter, occurredAtMs, id }) => {
    const [environment = '', customerId = '', meterKey = ''] = JSON.parse(`[${customerMeter}]`) as string[];
    const hour = Math.floor(occurredAtMs / 1_000 / HOUR_S) * HOUR_S;
    return { item, environment, customerId, meterKey, hour: String(hour), id: `use_${base32(id)}` };
  });
  const rows = await warehouse.query<Row>({
    sql: `SELECT id, toString(any(fingerprint)) AS fingerprint,
                 toString(argMin(toUnixTimestamp64Milli(occurred_at), created_at)) AS occurredAtMs,
                 toString(min(toUnixTimestamp64Milli(created_at))) AS createdAtMs
          FROM (${['events', 'change_events'].map(found).join(' UNION ALL ')})
          GROUP BY id`,
    params: {
      environments: distinct(places.map(({ environment }) => environment)),
      customers: distinct(places.map(({ customerId }) => customerId)),
      meters: distinct(places.map(({ meterKey }) => meterKey)),
      hours: distinct(places.map(({ hour }) => hour)),
      ids: distinct(places.map(({ id }) => id)),
    },
    connection: 'counters',
    timeoutMs: TIMEOUT_MS,
  });
  const stored = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    places.flatMap(({ item, id }) => {
      const row = stored.get(id);
      if (!row) return [];
      const event = {
        fingerprint: BigInt(row.fingerprint),
        occurredAtMs: Number(row.occurredAtMs),
        createdAtMs: Number(row.createdAtMs),
      };
      return [[item, event] as const];
    }),
  );
}

/** A key may be that of an event of a change of usage. */
function found(table: string): string {
  return `SELECT id, fingerprint, occurred_at, created_at FROM metergate.${table}
          WHERE environment IN {environments:Array(String)} AND customer_id IN {customers:Array(String)}
            AND meter_key IN {meters:Array(String)} AND id IN {ids:Array(String)}
            AND toStartOfHour(occurred_at) IN
              arrayMap(hour -> toDateTime(toUInt32(hour), 'UTC'), {hours:Array(String)})`;
}

function distinct(texts: string[]): string[] {
  return [...new Set(texts)];
}
