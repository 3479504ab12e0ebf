import type { Pool } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { kafkaUnderTest } from '../../infra/kafka/kafka-under-test.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { eventId, frameOf } from '../../tests/support/load-frames.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { listPartitionAlarms } from '../store/readiness.ts';
import { startLogWatch } from './log-watch.ts';

const HOUR_MS = 3_600_000;
const KEEPS_MS = 10 * HOUR_MS;
const SOON = { timeout: 20_000, interval: 50 };
const TOPIC_CONFIG = 2;

// Red when the age is not that of our first frame after the loaded position, or is never measured again.
it('events that wait for half of what a topic keeps raise an alarm until they are loaded', async () => {
  const { pool, kafka, watch, alarms, write, load } = await watched();
  await write(0, 6 * HOUR_MS);
  await write(0, 1_000);
  await write(1, 4 * HOUR_MS);
  const seen = watch();
  await vi.waitFor(async () => expect(await alarms()).toHaveLength(1), SOON);
  expect(await alarms()).toEqual([
    'partition 0: log_near_retention: events wait for 6.0 h to be loaded; ' +
      'the log deletes them after 10.0 h',
  ]);
  await vi.waitFor(() => expect(Math.round((seen.at(-1)?.oldestMs ?? 0) / HOUR_MS)).toBe(6), SOON);
  expect(seen.at(-1)?.keepsMs).toBe(KEEPS_MS);
  // The mark is followed by the first of them, then by the second.
  await load(pool, Buffer.from(kafka.logId).toString('hex'), 2);
  await vi.waitFor(async () => expect(await alarms()).toEqual([]), SOON);
});

it('a topic that keeps everything raises none', async () => {
  const { watch, alarms, write, keep, seenRound } = await watched();
  await keep(-1);
  await write(0, 900 * HOUR_MS);
  watch();
  await seenRound();
  expect(await alarms()).toEqual([]);
});

async function watched() {
  const pool = await testPool();
  const topic = await kafkaUnderTest(pool);
  const kafka = await topic.open();
  const keep = async (ms: number) => {
    const configEntries = [{ name: 'retention.ms', value: String(ms) }];
    await topic.client.admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: TOPIC_CONFIG, name: topic.settings.topic, configEntries }],
    });
  };
  await keep(KEEPS_MS);
  let requested = 0;
  const keepsMs = async () => {
    requested++;
    return await kafka.keepsMs();
  };
  return {
    pool,
    kafka,
    keep,
    /** Returns what the metrics received. */
    watch() {
      const seen: Array<{ oldestMs: number; keepsMs: number }> = [];
      const metrics = {
        watched: (one: (typeof seen)[number]) => {
          seen.push(one);
          return undefined;
        },
      };
      const deps = { pool, logReader: kafka.reader, keepsMs, clock: systemClock, metrics };
      const job = startLogWatch({ ...deps, log: SILENT }, { everyMs: 100 });
      onTestFinished(() => job.close());
      return seen;
    },
    async write(partition: number, ageMs: number) {
      const frame = frameOf(kafka.logId, [{ id: eventId(`${partition} ${ageMs}`) }], Date.now() - ageMs);
      expect(await kafka.writer(partition).append(frame)).toMatchObject({ status: 'durable' });
    },
    load,
    async alarms() {
      const found = await listPartitionAlarms(pool, Buffer.from(kafka.logId).toString('hex'), 10);
      return found.map(({ partition, code, message }) => `partition ${partition}: ${code}: ${message}`);
    },
    seenRound: () => vi.waitFor(() => expect(requested).toBeGreaterThan(2), SOON),
  };
}

/** The rows of an aggregator that has loaded a partition up to here. */
async function load(pool: Pool, logId: string, hi: number): Promise<void> {
  await pool.query("INSERT INTO partition_leases VALUES ($1, 0, 'one', 1, now())", [logId]);
  await pool.query(
    `INSERT INTO log_ranges (log_id, partition, lo, hi, epoch, state, event_count, checksum, through_ms,
       filled_to)
     VALUES ($1, 0, 0, $2, 1, 'settled', 1, 0, 0, 4)`,
    [logId, hi],
  );
}
