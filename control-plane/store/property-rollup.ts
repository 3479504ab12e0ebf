import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { BY_PROPERTY_SINCE } from '../../schemas/stored/usage-by-property.ts';

/** Usage by the values of a property, made by the load (infra/clickhouse/rollups). */
export interface PropertyRollup {
  /**
   * What `read` finds in the rollup. Undefined where it lacks rows of the property: then
   * the events have it. Throws Transient.
   */
  read<T>(use: RollupUse, read: () => Promise<T>): Promise<T | undefined>;
}

export interface RollupUse {
  environment: string;
  meterKey: string;
  property: string;
  /** Undefined: all there is. */
  span: Span | undefined;
}

/** What a response was read from. */
export type UsageSource = 'rollup' | 'events';

const TIMEOUT_MS = 5_000;
/** Properties that are known to be closed; beyond them the oldest are looked up again. */
const KNOWN_MAX = 10_000;
const ALL_TIMES: Span = { fromMs: Date.UTC(1970, 0), toMs: Date.UTC(2100, 0) };

export function createPropertyRollup(warehouse: Pick<Warehouse, 'query'>): PropertyRollup {
  let isFilled = false;
  /** The first days of months, `YYYY-MM-DD`, by property: what is closed stays closed. */
  const known = new Map<string, readonly string[]>();

  const query = <Row>(sql: string, params: Record<string, string | number>) =>
    warehouse.query<Row>({ sql, params, connection: 'long', timeoutMs: TIMEOUT_MS });

  /** Before that it has a part of what was stored before it. */
  async function wasFilled(): Promise<boolean> {
    if (isFilled) return true;
    const [found] = await query<{ applied: string }>(
      `SELECT toString(count()) AS applied FROM metergate.migrations
        WHERE number = {number:UInt32} AND state = 'applied'`,
      { number: BY_PROPERTY_SINCE },
    );
    // mutant: half-filled-rollup-read
    isFilled = found?.applied !== '0';
    return isFilled;
  }

  async function closedMonths({ environment, meterKey, property }: RollupUse): Promise<readonly string[]> {
    const rows = await query<{ month: string }>(
      `SELECT DISTINCT toString(month) AS month FROM metergate.closed_properties
        WHERE environment = {environment:String} AND meter_key = {meter:String}
          AND property IN ('', {property:String})`,
      { environment, meter: meterKey, property },
    );
    return rows.map(({ month }) => month);
  }

  return {
    async read(use, read) {
      const name = JSON.stringify([use.environment, use.meterKey, use.property]);
      const span = use.span ?? ALL_TIMES;
      if (!(await wasFilled()) || known.get(name)?.some((month) => isWithin(month, span))) return undefined;
      const found = await read();
      // Behind the read: rows that were left out before it were recorded as closed before they were.
      const months = await closedMonths(use);
      if (months.length === 0) return found;
      const [oldest] = known.keys();
      if (known.size >= KNOWN_MAX && oldest !== undefined) known.delete(oldest);
      known.set(name, months);
      return months.some((month) => isWithin(month, span)) ? undefined : found;
    },
  };
}

function isWithin(month: string, { fromMs, toMs }: Span): boolean {
  const first = new Date(month);
  const next = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return first.getTime() < toMs && next > fromMs;
}
