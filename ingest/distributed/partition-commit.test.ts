import { type Logger, pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Identified } from '../../infra/ports/engine.ts';
import { type DistributedIdempotencyStore, OUTCOME } from '../../infra/ports/idempotency-store.ts';
import { createBufferPool } from '../buffer-pool.ts';
import { createLogUnderTest } from './distributed-usage-under-test.ts';
import { createPartitionCommit } from './partition-commit.ts';
import { createProduceBatcher } from './produce-batcher.ts';

/** Every key is new. */
const keys: DistributedIdempotencyStore = {
  async claim({ count, outcomes }) {
    outcomes.fill(OUTCOME.created);
    return { created: count, waits: false };
  },
  confirm: async () => undefined,
  release: async () => undefined,
  mayHaveLostKeys: () => false,
  close: async () => undefined,
};

/** One event, as far as a round looks at it. */
const line = Buffer.from('["use_a",1,2,3]\n');
const identified = {
  count: 1,
  records: new Uint32Array(10),
  readOnly: new Uint8Array(1),
  lines: line,
  lineEnds: [line.length],
  customerMeters: ['ws_a:live cus_a calls'],
  customerMeterOf: [0],
} as unknown as Identified;

async function failedAppend(status: 'not_sent' | 'unknown') {
  const logged: Array<{ status: string; msg: string }> = [];
  const log: Logger = pino(
    { level: 'warn' },
    { write: (text: string) => void logged.push(JSON.parse(text)) },
  );
  const events = createLogUnderTest();
  events.next = async () => status;
  const commit = createPartitionCommit({
    ...{ keys, writer: events.writer(0), partition: 0, clock: systemClock, log },
    ...{ pool: createBufferPool(0), setOut: createProduceBatcher() },
  });
  const failure = await new Promise<unknown>((resolve, reject) =>
    commit.add({
      ...{ identified, items: [0], bytes: line.length, outcomes: new Uint8Array(1) },
      ...{ enteredAtMs: systemClock.monotonicMs(), isOver: () => false },
      done: () => reject(new Error('it is done')),
      failed: resolve,
    }),
  );
  return { failure, logged };
}

// Red when the log reports an unknown outcome as nothing written: an operator would trust it.
test.each([
  ['not_sent', /nothing was written/],
  ['unknown', /may have been written/],
] as const)('an append that ends as %s is logged with what is known of it', async (status, text) => {
  const { failure, logged } = await failedAppend(status);
  expect(failure).toMatchObject({ code: 'log_unavailable' });
  expect(logged).toEqual([expect.objectContaining({ status, msg: expect.stringMatching(text) })]);
});
