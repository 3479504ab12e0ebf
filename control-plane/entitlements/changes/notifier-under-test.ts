import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../infra/ports/clock.ts';
import { createPool } from '../../../infra/postgres/pool.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import { databaseUrlOf } from '../../../tests/support/test-pool.ts';
import { createNotifierMetrics } from '../../metrics.ts';
import { startChangeNotifier } from './change-notifier.ts';

export interface NotifierOptions {
  leaseMs?: number;
  chunkMax?: number;
  statementTimeoutMs?: number;
  clock?: Clock;
}

/** As in a separate process, with its own connections. */
export function notifierUnderTest(main: Pool, { leaseMs = 1_000, chunkMax = 200, ...more }: NotifierOptions) {
  const { clock = systemClock, ...timeouts } = more;
  const name = randomUUID();
  const pool = createPool({ url: databaseUrlOf(main), name, log: SILENT, ...timeouts });
  let failures = 0;
  const metrics = createNotifierMetrics(new Registry(), systemClock.nowMs);
  metrics.failed = () => {
    failures += 1;
  };
  const options = { owner: name, leaseMs, chunkMax, everyMs: 20 };
  const notifier = startChangeNotifier({ pool, clock, log: SILENT, metrics }, options);
  let ended: Promise<unknown> | undefined;
  function end(): Promise<unknown> {
    ended ??= Promise.all([pool.end(), notifier.close()]);
    return ended;
  }
  onTestFinished(async () => void (await end()));
  return {
    /** Of chunks. */
    failures: () => failures,
    close: notifier.close,
    /** In the middle of its work and without a shutdown: its lease runs out. */
    async cutOff(): Promise<void> {
      // It gets no new connections; the test does not wait until it notices.
      void end();
      await main.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
        `metergate-${name}`,
      ]);
    },
  };
}
