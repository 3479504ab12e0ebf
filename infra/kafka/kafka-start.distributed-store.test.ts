import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startKafka } from '../../tests/servers/start-kafka.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { retryUntilAvailable } from '../platform/retry-until-available.ts';
import { openKafkaLog } from './kafka-log.ts';
import { kafkaUnderTest } from './kafka-under-test.ts';

const SETTINGS = {
  topic: 'usage',
  partitions: 2,
  replication: 1,
  minIsr: 1,
  autoCreate: true,
  tls: false,
};
const API_VERSIONS = 18;
const BAD = 'bad_configuration';
const rejected = (message: RegExp) =>
  expect.objectContaining({ code: BAD, message: expect.stringMatching(message) });

test('a topic that keeps less than configured is rejected, with the fault in one line', async () => {
  const pool = await testPool();
  const kafka = await kafkaUnderTest(pool);
  await kafka.open();
  const open = async (given: Partial<typeof kafka.settings>) =>
    (await kafkaUnderTest(pool, { ...kafka.settings, ...given })).open();
  await expect(open({ partitions: 3 })).rejects.toEqual(
    rejected(/has 2 partitions, and KAFKA_PARTITIONS is 3/),
  );
  await expect(open({ replication: 2 })).rejects.toEqual(
    rejected(/1 replicas, fewer than KAFKA_REPLICATION 2/),
  );
  await expect(open({ minIsr: 2 })).rejects.toEqual(
    rejected(/min.insync.replicas 1, less than KAFKA_MIN_ISR 2/),
  );
  const missing = { topic: `${kafka.settings.topic}-other` };
  await expect(open({ ...missing, autoCreate: false })).rejects.toEqual(rejected(/is missing/));
  await expect(open({ ...missing, replication: 3 })).rejects.toEqual(rejected(/KAFKA_REPLICATION 3/));
});

test('topics that are compacted, may lose records or take only small ones are rejected', async () => {
  const pool = await testPool();
  for (const [name, value] of [
    ['cleanup.policy', 'compact'],
    ['unclean.leader.election.enable', 'true'],
    ['max.message.bytes', '100000'],
  ] as const) {
    const kafka = await kafkaUnderTest(pool);
    await kafka.client.admin.createTopics({
      topics: [{ topic: kafka.settings.topic, numPartitions: 2, configEntries: [{ name, value }] }],
    });
    await expect(kafka.open()).rejects.toMatchObject({ code: BAD });
  }
});

test('a broker that is not there is waited for', async () => {
  const pool = await testPool();
  const settings = { ...SETTINGS, brokers: ['127.0.0.1:1'] };
  await expect(openKafkaLog({ settings, pool, log: SILENT })).rejects.toMatchObject({
    code: 'kafka_unavailable',
  });
});

/** Responds with the requests it knows, and to nothing else. */
async function brokerOfOld(produceMax: number): Promise<string> {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (request: Buffer) => {
        if (request.readInt16BE(4) !== API_VERSIONS) return;
        const known = [0, 0, produceMax, API_VERSIONS, 0, 2];
        const response = Buffer.alloc(4 + 4 + 2 + 4 + known.length * 2 + 4);
        response.writeInt32BE(response.length - 4, 0);
        response.writeInt32BE(request.readInt32BE(8), 4);
        response.writeInt32BE(known.length / 3, 10);
        for (const [at, number] of known.entries()) response.writeInt16BE(number, 14 + at * 2);
        socket.write(response);
      });
  });
  return `127.0.0.1:${(await listenUntil(onTestFinished, server)).port}`;
}

// Red when the broker is queried for topics first: it never responds, and the start waits.
test('a broker that is too old is rejected at once, with the reason', async () => {
  const pool = await testPool();
  const settings = { ...SETTINGS, brokers: [await brokerOfOld(5)] };
  await expect(openKafkaLog({ settings, pool, log: SILENT })).rejects.toEqual(rejected(/is older than 2.1/));
});

test('a wrong login is rejected at once', { timeout: 120_000 }, async () => {
  const pool = await testPool();
  const server = await startKafka({ login: { username: 'metergate', password: 'right' } });
  onTestFinished(() => server.stop());
  const open = (password: string) => {
    const sasl = { mechanism: 'plain', username: 'metergate', password } as const;
    return openKafkaLog({ settings: { ...SETTINGS, brokers: [server.url], sasl }, pool, log: SILENT });
  };
  await expect(open('wrong')).rejects.toMatchObject({ code: BAD });
  const kafka = await retryUntilAvailable('Kafka', () => open('right'), SILENT);
  await kafka.close();
});
