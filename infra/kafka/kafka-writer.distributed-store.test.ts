import { expect, test } from 'vitest';
import { testPool } from '../../tests/support/test-pool.ts';
import { type KafkaUnderTest, kafkaUnderTest } from './kafka-under-test.ts';

/** Beyond what the topic takes. */
const TOO_LARGE_BYTES = 9 * 1024 * 1024;

const open = async (): Promise<KafkaUnderTest> => await kafkaUnderTest(await testPool(), { partitions: 2 });

// Red when a response is given to the wrong partition.
test('appends of one turn share a request, and each gets its own offset', async () => {
  const kafka = await (await open()).open();
  const [zero, one] = [kafka.writer(0), kafka.writer(1)];
  await zero.append([Buffer.from('before')]);
  const outcomes = await Promise.all([zero.append([Buffer.from('a')]), one.append([Buffer.from('b')])]);
  expect(outcomes).toEqual([
    { status: 'durable', position: 2, end: 3 },
    { status: 'durable', position: 1, end: 2 },
  ]);
  expect((await kafka.reader.read(0, 2, 1_000)).map(({ bytes }) => String(bytes))).toEqual(['a']);
  expect((await kafka.reader.read(1, 1, 1_000)).map(({ bytes }) => String(bytes))).toEqual(['b']);
});

// Red when both are sent in one request: a broker takes the second alone, and both would be acknowledged.
test('two appends to one partition in one turn are both there', async () => {
  const kafka = await (await open()).open();
  const [first, second] = [kafka.writer(0), kafka.writer(0)];
  const outcomes = await Promise.all([first.append([Buffer.from('a')]), second.append([Buffer.from('b')])]);
  expect(outcomes).toMatchObject([{ position: 1 }, { position: 2 }]);
  expect((await kafka.reader.read(0, 1, 1_000)).map(({ bytes }) => String(bytes))).toEqual(['a', 'b']);
});

// Red when one partition's rejection is taken for the whole request's, or for an unknown outcome.
test('what the broker rejects for one partition was not written, and the other one is durable', async () => {
  const kafka = await (await open()).open();
  const outcomes = await Promise.all([
    kafka.writer(0).append([Buffer.alloc(TOO_LARGE_BYTES)]),
    kafka.writer(1).append([Buffer.from('b')]),
  ]);
  expect(outcomes).toMatchObject([{ status: 'not_sent' }, { status: 'durable', position: 1 }]);
  expect(await kafka.reader.durableEnds()).toEqual([1, 2]);
});
