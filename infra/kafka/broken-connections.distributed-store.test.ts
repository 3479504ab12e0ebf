import { beforeAll, expect, it } from 'vitest';
import { type FaultyWay, startFaultyWay } from '../../tests/servers/faulty-way.ts';
import { startKafka } from '../../tests/servers/start-kafka.ts';
import type { TestingServer } from '../../tests/servers/testing-server.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { kafkaUnderTest } from './kafka-under-test.ts';

let way: FaultyWay;
let address: string;

beforeAll(async () => {
  let kafka: TestingServer | undefined;
  way = await startFaultyWay(() => Number(kafka?.url.split(':').at(-1)));
  address = `127.0.0.1:${way.port}`;
  kafka = await startKafka({ settings: { 'advertised.listeners': `PLAINTEXT://${address}` } });
  return async () => {
    way.close();
    await kafka.stop();
  };
});

async function openLog() {
  const topic = await kafkaUnderTest(await testPool(), { brokers: [address] });
  const log = await topic.open();
  const append = async () => (await log.writer(0).append([Buffer.from('a frame')])).status;
  const frames = async () => (await log.reader.read(0, 0, 1_000_000)).length;
  return { append, frames, topic: topic.settings.topic };
}

const SOON = { timeout: 20_000, interval: 50 };
/** Longer than a connection may be silent. */
const PATIENCE = { timeout: 30_000, interval: 50 };

// Red when the rest of one response is taken for the beginning of the next.
it('after a truncated response the broker is understood again', async () => {
  const { append, frames } = await openLog();
  await expect.poll(append, SOON).toBe('durable');
  const before = await frames();
  way.cutNextResponses();
  expect(await append()).toBe('unknown');
  let maybeWritten = 1;
  const appendAgain = async () => {
    const status = await append();
    if (status !== 'not_sent') maybeWritten += 1;
    return status;
  };
  await expect.poll(appendAgain, SOON).toBe('durable');
  await expect.poll(() => frames().catch(() => 0), SOON).toBeGreaterThanOrEqual(before + 2);
  expect(await frames()).toBeLessThanOrEqual(before + maybeWritten);
});

// Red when requests continue on a connection that times out.
it('a connection to a broker that falls silent is replaced', async () => {
  const { append, frames } = await openLog();
  await expect.poll(append, SOON).toBe('durable');
  const before = await frames();
  way.silence();
  expect(await append()).toBe('unknown');
  await expect.poll(append, PATIENCE).toBe('durable');
  await expect.poll(() => frames().catch(() => 0), PATIENCE).toBeGreaterThan(before);
});

/** Unknown topic or partition, no leader, not the leader. */
const NO_LEADER_CODES = [3, 5, 6];

/** Size, number of the request, one topic by its name, one partition by its number: then its error code. */
function withErrorCode(response: Buffer, topic: string, code: number): Buffer {
  response.writeInt16BE(code, 4 + 4 + 4 + 2 + Buffer.byteLength(topic) + 4 + 4);
  return response;
}

// Red when these are taken for rejections: a broker also reports them for a record that it wrote, once it is
// no longer the leader.
it('what a broker wrote that then has no leader it knows of may be written', async () => {
  const { append, frames, topic } = await openLog();
  await expect.poll(append, SOON).toBe('durable');
  for (const code of NO_LEADER_CODES) {
    const before = await frames();
    way.changeNextResponses((response) => withErrorCode(response, topic, code));
    expect([code, await append()]).toEqual([code, 'unknown']);
    await expect.poll(() => frames().catch(() => 0), SOON).toBe(before + 1);
  }
});
