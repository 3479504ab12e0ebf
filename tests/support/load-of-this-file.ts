import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { afterAll } from 'vitest';
import { startAggregator } from '../../aggregator/start-aggregator.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import type { LogAndWarehouse } from './log-and-warehouse.ts';
import { SILENT } from './silent-log.ts';

const LINGER_MS = 50;

/** The product's load at work for all tests of a file: what is on the log is counted and settled. */
export function startLoadOfThisFile(
  { warehouse, reader }: LogAndWarehouse,
  { pool, url }: { pool: Pool; url: string },
): void {
  const aggregator = startAggregator(
    {
      ...{ pool, warehouse, reader, clock: systemClock, log: SILENT, metrics: new Registry() },
      ...{ disk: { isLow: () => false }, eventsRetentionDays: undefined, eventAheadMsMax: 300_000 },
    },
    { owner: 'test', lingerMs: LINGER_MS },
  );
  const listener = createListener({ url: () => url, log: SILENT }, { channels: aggregator.channels });
  afterAll(async () => {
    await listener.close();
    await aggregator.close();
  });
}
