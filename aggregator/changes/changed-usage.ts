import type { Warehouse } from '../../infra/ports/warehouse.ts';

/** Whose usage a change has changed, and from which hour on. */
export interface ChangedUsage {
  /** Null: of every customer of the meter. */
  customerId: string | null;
  meterKey: string;
  from: Date;
}

export interface ChangePlace {
  environment: string;
  number: number;
}

/** Of more customer meters each meter is named once, for all its customers. */
const CUSTOMER_METERS_MAX = 20_000;
const TIMEOUT_MS = 20_000;

interface Row {
  customer?: string;
  meter: string;
  hour: string;
}

/** Of a change whose rows are all stored. Throws Transient. */
export async function readChangedUsage(
  warehouse: Pick<Warehouse, 'query'>,
  change: ChangePlace,
  customerMetersMax = CUSTOMER_METERS_MAX,
): Promise<ChangedUsage[]> {
  const read = (names: string, limit: number) =>
    warehouse.query<Row>({
      sql: `SELECT ${names}, toString(toUnixTimestamp(min(hour))) AS hour FROM metergate.change_hourly
             WHERE environment = {environment:String} AND change = {number:UInt64}
             GROUP BY ALL LIMIT {limit:UInt32}`,
      params: { environment: change.environment, number: change.number, limit },
      connection: 'settlement',
      timeoutMs: TIMEOUT_MS,
    });
  const each = await read('customer_id AS customer, meter_key AS meter', customerMetersMax + 1);
  const isWide = each.length > customerMetersMax;
  // Meters of an environment are bounded.
  const found = isWide ? await read('meter_key AS meter', METERS_MAX) : each;
  return found.map(({ customer = null, meter, hour }) => ({
    customerId: customer,
    meterKey: meter,
    from: new Date(Number(hour) * 1_000),
  }));
}

const METERS_MAX = 1_000_000;
