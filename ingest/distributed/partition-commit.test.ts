import { type Logger, pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Identified } from '../../infra/ports/engine.ts';
import { type DistributedIdempotencyStore, OUTCOME } from '../../infra/ports/idempotency-store.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createBufferPool } from '../buffer-pool.ts';
import { createLogUnderTest, type LogUnderTest } from './distributed-usage-under-test.ts';
import { createPartitionCommit } from './partition-commit.ts';
import { createProduceBatcher } from './produce-batcher.ts';
import { splitRequest } from './split-request.ts';

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
const line = Buffer.from('1,"",{}\n');
const identified = {
  count: 1,
  records: new Uint32Array(10),
  readOnly: new Uint8Array(1),
  lines: line,
  lineEnds: [line.length],
  customerMeters: ['ws_a:live cus_a calls'],
  customerMeterOf: [0],
} as unknown as Identified;

function openCommit(events: LogUnderTest, log: Logger) {
  return createPartitionCommit({
    ...{ keys, writer: events.writer(0), partition: 0, clock: systemClock, log },
    ...{ pool: createBufferPool(0), setOut: createProduceBatcher() },
  });
}

async function failedAppend(status: 'not_sent' | 'unknown') {
  const logged: Array<{ status: string; msg: string }> = [];
  const log: Logger = pino(
    { level: 'warn' },
    { write: (text: string) => void logged.push(JSON.parse(text)) },
  );
  const events = createLogUnderTest();
  events.next = async () => status;
  const commit = openCommit(events, log);
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

const EVENTS = 500;

/** A request whose events are small, each of a customer of its own. */
function smallEvents(request: number): Identified {
  const lineEnds = Array.from({ length: EVENTS }, (_, at) => (at + 1) * line.length);
  const names = lineEnds.map(
    (end) => `"ws_a:live","cus_${`${request}`.padEnd(20)}${end}","${'m'.repeat(60)}"`,
  );
  return {
    ...identified,
    count: EVENTS,
    records: new Uint32Array(EVENTS * 10),
    readOnly: new Uint8Array(EVENTS),
    lines: Buffer.from(line.toString().repeat(EVENTS)),
    lineEnds: Uint32Array.from(lineEnds),
    customerMeters: names,
    customerMeterOf: Uint16Array.from(names.keys()),
  };
}

// Red when only lines are counted: names and records are many times as much, and no broker takes the frame.
test('a frame has no more than a round may have, however small its events are', async () => {
  const events = createLogUnderTest();
  const commit = openCommit(events, SILENT);
  const requests = Array.from({ length: 24 }, (_, at) => smallEvents(at));
  const done = requests.map((one) => {
    const [part] = splitRequest(one, 1, () => false);
    if (!part) throw new Error('it has a part');
    return new Promise<void>((resolve, reject) =>
      commit.add({
        ...{ ...part, identified: one, outcomes: new Uint8Array(EVENTS) },
        ...{ enteredAtMs: systemClock.monotonicMs(), isOver: () => false, done: resolve, failed: reject },
      }),
    );
  });
  await Promise.all(done);
  expect(events.frames.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(24 * EVENTS);
  expect(Math.max(...events.frames.map(({ bytes }) => bytes.length))).toBeLessThan(1024 * 1024);
  expect(events.frames.length).toBeLessThan(5);
});
