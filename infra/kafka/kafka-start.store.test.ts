import { expect, onTestFinished, test } from 'vitest';
import { testPool } from '../postgres/test-pool.ts';
import { startKafka } from '../testing-servers/start-kafka.ts';
import { kafkaUnderTest } from './kafka-under-test.ts';

const BAD = 'bad_configuration';
const refused = (message: RegExp) =>
  expect.objectContaining({ code: BAD, message: expect.stringMatching(message) });

test('a topic that keeps less than was asked for is refused, with what is wrong in one line', async () => {
  const pool = await testPool();
  const kafka = await kafkaUnderTest(pool);
  await kafka.open();
  const open = async (given: Partial<typeof kafka.settings>) =>
    (await kafkaUnderTest(pool, { ...kafka.settings, ...given })).open();
  await expect(open({ partitions: 3 })).rejects.toEqual(
    refused(/has 2 partitions, and KAFKA_PARTITIONS is 3/),
  );
  await expect(open({ replication: 2 })).rejects.toEqual(
    refused(/1 replicas, fewer than KAFKA_REPLICATION 2/),
  );
  await expect(open({ minIsr: 2 })).rejects.toEqual(
    refused(/min.insync.replicas 1, less than KAFKA_MIN_ISR 2/),
  );
  const missing = { topic: `${kafka.settings.topic}-other` };
  await expect(open({ ...missing, autoCreate: false })).rejects.toEqual(refused(/is missing/));
  await expect(open({ ...missing, replication: 3 })).rejects.toEqual(refused(/KAFKA_REPLICATION 3/));
});

test('a compacted topic, one that may lose its leader’s records and one of small records are refused', async () => {
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

test('no broker there is waited for; a login that is wrong is not', async () => {
  const pool = await testPool();
  const nobody = kafkaUnderTest(pool, { brokers: ['127.0.0.1:1'] });
  await expect(nobody.then(({ open }) => open())).rejects.toThrow();
  const server = await startKafka({ login: { username: 'metergate', password: 'right' } });
  onTestFinished(() => server.stop());
  const { openKafkaLog } = await import('./kafka-log.ts');
  const { pino } = await import('pino');
  const settings = {
    ...{ brokers: [server.url], topic: 'usage', partitions: 2, replication: 1, minIsr: 1 },
    ...{ autoCreate: true, tls: false },
  };
  const open = (password: string) =>
    openKafkaLog({
      settings: { ...settings, sasl: { mechanism: 'plain', username: 'metergate', password } },
      pool,
      log: pino({ level: 'silent' }),
    });
  await expect(open('wrong')).rejects.toMatchObject({ code: BAD });
  const kafka = await open('right');
  await kafka.close();
});
