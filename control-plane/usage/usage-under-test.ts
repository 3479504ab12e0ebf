import type { Pool } from 'pg';
import { afterAll, expect } from 'vitest';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { arrivalText } from '../../schemas/stored/event-row.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import { eventLine, type TestEvent } from '../../tests/support/event-line.ts';
import { frameOf } from '../../tests/support/load-frames.ts';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { ownUsageOf } from '../../tests/support/own-usage-of.ts';
import { type Happening, makeHappenings, storedId, unitsAsText } from '../../tests/support/usage-oracle.ts';
import { type ApiUnderTest, apiOfThisFile, type CallOptions } from '../api-under-test.ts';

export interface Appended {
  lo: number;
  hi: number;
  events: TestEvent[];
}

const HAPPENINGS = 2_000;
const METERS = '/api/v1/meters';

export type UsageUnderTest = Awaited<ReturnType<typeof usageOfThisFile>>;

/**
 * The control plane over a real log, Postgres and warehouse, with a customer and a meter of every
 * aggregation, which all tests of a file share.
 */
export async function usageOfThisFile() {
  const stores = await openLogAndWarehouse(afterAll);
  const { warehouse, writer, reader } = stores;
  const nowMs = Date.now();
  const happenings = makeHappenings(HAPPENINGS, nowMs);
  const openUsageWriter = (pool: Pool) => ownUsageOf(stores, pool, afterAll);
  const api = await apiOfThisFile({ warehouse, logReader: reader, openUsageWriter });
  const { environment } = api;
  const body = { name: 'Ada', email: 'ada@example.com', externalId: 'ada/1' };
  const customerId: string = (await api.call('POST', '/api/v1/customers', { body })).body.id;

  async function makeMeter(key: string, aggregation: Aggregation): Promise<void> {
    const property = aggregation === 'unique' ? { property: 'region' } : {};
    const meter = { key, name: key, aggregation, unit: 'pieces', ...property };
    expect((await api.call('POST', METERS, { body: meter })).status).toBe(201);
  }

  const usage = {
    stores,
    api,
    nowMs,
    /** Loaded for every meter that is named like its aggregation. */
    happenings,
    environment,
    customerId,
    makeMeter,
    /** `/api/v1/usage/<the customer by its external id>/…` */
    read: (rest: string, options?: CallOptions) => api.call('GET', `/api/v1/usage/ada%2F1/${rest}`, options),
    /** As ingest writes it. */
    logged: (happening: Happening, meterKey: string): TestEvent => ({
      ...loggedAs(happening, meterKey),
      environment,
      customerId,
      meterKey,
    }),
    async append(events: TestEvent[]): Promise<Appended> {
      const outcome = await writer.append(frameOf(writer.logId, events, Date.now()));
      if (outcome.status !== 'durable') throw new Error('the disk is full');
      return { lo: outcome.position, hi: outcome.end, events };
    },
    /** Plays the aggregator: inserts, marks, announces. */
    load: (appended: Appended) =>
      load(appended, { api, warehouse, logId: Buffer.from(writer.logId).toString('hex') }),
  };
  for (const aggregation of AGGREGATIONS) await makeMeter(aggregation, aggregation);
  const events = AGGREGATIONS.flatMap((meter) => happenings.map((one) => usage.logged(one, meter)));
  await usage.load(await usage.append(events));
  return usage;
}

interface LoadTarget {
  api: ApiUnderTest;
  warehouse: Warehouse;
  logId: string;
}

async function load({ lo, hi, events }: Appended, { api, warehouse, logId }: LoadTarget): Promise<void> {
  const lines = Buffer.concat(linesOf(events));
  await warehouse.insertEvents({ token: `${lo}-${hi}`, lines, timeoutMs: 10_000 });
  const throughMs = 1; // so early that only samples can determine asOf
  await api.pool.query(
    `INSERT INTO log_ranges VALUES ($1, 0, $2, $3, 1, 'loaded', $4, '{}', 0, $5, now(), 4)`,
    [logId, lo, hi, events.length, throughMs],
  );
  const payload = JSON.stringify({ logId, partition: 0, hi, throughMs });
  await api.pool.query('SELECT pg_notify($1, $2)', [CHANNELS.loaded, payload]);
}

function linesOf(events: TestEvent[]): Buffer[] {
  return events.map((event) => Buffer.from(eventLine(event)));
}

function loggedAs(happening: Happening, meterKey: string): TestEvent {
  const { units, properties, occurredAtMs, createdAtMs } = happening;
  const tags: Record<string, string> = { string: '', number: '\u0000n', boolean: '\u0000b' };
  const stored = Object.entries(properties).map(([name, value]) => [name, `${tags[typeof value]}${value}`]);
  return {
    id: storedId(happening, meterKey),
    value: unitsAsText(units),
    uniqueValue: uniqueValueOf(happening, meterKey),
    properties: Object.fromEntries(stored.sort()),
    occurredAtMs,
    createdAtMs,
  };
}

/** As ingest fills the column: what a `unique` meter counts, and for one of `latest` the order of arrival. */
function uniqueValueOf({ properties }: Happening, meterKey: string): string {
  if (meterKey.startsWith('latest')) return arrivalText(0);
  return meterKey === 'unique' && 'region' in properties ? `=${properties.region}` : '';
}

/** A number of the response by its own text. */
export function numberIn(text: string, name: string): string {
  return new RegExp(`"${name}":(-?[\\d.]+)`).exec(text)?.[1] ?? 'missing';
}

export function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
