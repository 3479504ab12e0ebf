import type { Pool, PoolClient } from 'pg';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { creditRatesOf, type RateVersion } from '../rules/credit-cost.ts';

/** Meters by environment and key. */
export interface MeterPlaces {
  environments: string[];
  meterKeys: string[];
}

/** What a meter counts and costs. */
export interface RatedMeter {
  environment: string;
  meterKey: string;
  aggregation: Aggregation;
  /** By their start. */
  versions: RateVersion[];
}

interface VersionRow {
  environment: string;
  meterKey: string;
  aggregation: Aggregation;
  version: number | null;
  startedAt: Date;
  burnsFrom: Date;
  creditRate: string | null;
  creditRates: { property: string; rates: Record<string, string> } | null;
}

/** Of what there is no meter there is nothing. */
export async function readRatedMeters(
  db: Pool | PoolClient,
  { environments, meterKeys }: MeterPlaces,
): Promise<RatedMeter[]> {
  const { rows } = await db.query<VersionRow>(
    `SELECT m.environment, m.key AS "meterKey", m.aggregation, r.version, r.started_at AS "startedAt",
            r.burns_from AS "burnsFrom", r.credit_rate AS "creditRate", r.credit_rates AS "creditRates"
       FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS given (environment, key)) requested
       JOIN meters m ON m.environment = requested.environment AND m.key = requested.key
       LEFT JOIN meter_rates r ON r.environment = m.environment AND r.meter_key = m.key
      ORDER BY m.environment, m.key, r.version`,
    [environments, meterKeys],
  );
  const meters: RatedMeter[] = [];
  for (const row of rows) {
    const { environment, meterKey, aggregation } = row;
    const last = meters.at(-1);
    const isSame = last?.environment === environment && last.meterKey === meterKey;
    const meter = isSame ? last : { environment, meterKey, aggregation, versions: [] };
    if (!isSame) meters.push(meter);
    if (row.version !== null) meter.versions.push(versionOf(row, row.version));
  }
  return meters;
}

function versionOf({ startedAt, burnsFrom, ...rates }: VersionRow, version: number): RateVersion {
  return {
    version,
    startMs: startedAt.getTime(),
    burnsFromMs: burnsFrom.getTime(),
    rates: creditRatesOf(rates),
  };
}

/**
 * Ends the running version of a locked meter's rates and begins the next one. The start is never before the
 * last version's start, even when the earlier of two requested changes is written later.
 */
export async function startRates(
  db: Pool | PoolClient,
  environment: string,
  { meterKey, startedAt, creditRate, creditRates }: NewRates,
): Promise<Date> {
  const { rows } = await db.query<{ startedAt: Date }>(
    `INSERT INTO meter_rates (environment, meter_key, version, started_at, burns_from, credit_rate,
                              credit_rates)
     SELECT $1, $2, coalesce(max(version), 0) + 1, greatest($3, max(started_at)),
            greatest($3, max(started_at)), $4, $5
       FROM meter_rates WHERE environment = $1 AND meter_key = $2
     RETURNING started_at AS "startedAt"`,
    [environment, meterKey, startedAt, creditRate, creditRates],
  );
  return rows[0]?.startedAt ?? startedAt;
}

export interface NewRates {
  meterKey: string;
  startedAt: Date;
  creditRate: string | null;
  creditRates: { property: string; rates: Record<string, string> } | null;
}
