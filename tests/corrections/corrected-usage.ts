import { Registry } from 'prom-client';
import { afterAll, expect } from 'vitest';
import { startAggregator } from '../../aggregator/start-aggregator.ts';
import { type ApiUnderTest, apiOfThisFile } from '../../control-plane/api-under-test.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { OwnUsage, UsageWriter } from '../../infra/ports/usage-writer.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { openLogAndWarehouse } from '../support/log-and-warehouse.ts';
import { ownUsageOf } from '../support/own-usage-of.ts';
import { SILENT } from '../support/silent-log.ts';

/** What a test does to the writes of corrections. */
export interface WriterFaults {
  /** Before the records of a change are written. */
  before?: ((usage: OwnUsage) => Promise<void>) | undefined;
  /** After they are durable, and before the writer says so. */
  after?: ((usage: OwnUsage) => Promise<void>) | undefined;
}

let made = 0;

/** Control plane and load at work over a real log, Postgres and warehouse, for all tests of a file. */
export async function correctedUsageOfThisFile() {
  const stores = await openLogAndWarehouse(afterAll);
  const { warehouse, reader } = stores;
  const faults: WriterFaults = {};
  const api = await apiOfThisFile({
    warehouse,
    logReader: reader,
    openUsageWriter: (pool) => withFaults(ownUsageOf(stores, pool, afterAll), faults),
  });
  const { pool } = api;
  const rest = { clock: systemClock, log: SILENT, metrics: new Registry(), disk: { isLow: () => false } };
  const aggregator = startAggregator(
    { pool, warehouse, reader, eventsRetentionDays: undefined, eventAheadMsMax: 300_000, ...rest },
    { owner: 'test', lingerMs: 20 },
  );
  const listener = createListener({ url: () => api.url, log: SILENT }, { channels: aggregator.channels });
  afterAll(async () => {
    await listener.close();
    await aggregator.close();
  });

  return { stores, api, faults, ...usageOf(api) };
}

/** What tests do through the API. */
function usageOf(api: ApiUnderTest) {
  const { pool, environment } = api;
  async function makeMeter(aggregation: Aggregation, more: object = {}): Promise<string> {
    const key = `${aggregation}-${++made}`;
    const body = { key, name: key, aggregation, ...more };
    expect((await api.request('meters.create', { body })).status).toBe(201);
    return key;
  }

  return {
    makeMeter,
    async makeCustomer(): Promise<string> {
      const body = { name: 'Ada', email: 'ada@example.com', externalId: `ada-${++made}` };
      return (await api.request('customers.create', { body })).body.id;
    },
    /** Ordinary usage; the ids of the events. */
    async record(
      customerId: string,
      meterId: string,
      values: readonly number[],
      { occurredAt = new Date().toISOString(), properties = null as string | null } = {},
    ): Promise<string[]> {
      const events = values.map((value) => ({
        idempotencyKey: `sent ${++made}`,
        ...{ customerId, meterId, value: String(value), occurredAt, properties },
      }));
      const written = await api.usageWriter.write({ environment, events });
      return written.map((one) => (one.status === 'error' ? one.rejection.code : one.eventId));
    },
    async counter(customerId: string, meterId: string): Promise<number> {
      const params = { customerId, meterId };
      const read = await api.request('usage.retrieve', { params, query: { consistency: 'strong' } });
      expect(read.status, read.text).toBe(200);
      return read.body.current;
    },
    async listed(customerId: string, meterId: string) {
      const params = { customerId, meterId };
      const read = await api.request('usage.events', { params, query: { consistency: 'strong' } });
      expect(read.status, read.text).toBe(200);
      return read.body.data;
    },
    voidEvent: (usageEventId: string, body: object = {}, headers: Record<string, string> = {}) =>
      api.request('usageCorrections.void', { params: { usageEventId }, body, headers }),
    amend: (usageEventId: string, body: object, headers: Record<string, string> = {}) =>
      api.request('usageCorrections.amend', { params: { usageEventId }, body, headers }),
    async changes() {
      const { rows } = await pool.query<{ id: string; kind: string; state: string; voided: number }>(
        'SELECT id, kind, state, voided FROM usage_changes WHERE environment = $1 ORDER BY number',
        [environment],
      );
      return rows;
    },
  };
}

function withFaults(writer: UsageWriter, faults: WriterFaults): UsageWriter {
  return {
    async write(usage) {
      if (!usage.change) return writer.write(usage);
      await faults.before?.(usage);
      const written = await writer.write(usage);
      await faults.after?.(usage);
      return written;
    },
  };
}
