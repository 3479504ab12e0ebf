import { randomBytes } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { Fatal } from '../../schemas/failures.ts';
import { inTransaction } from '../postgres/pool.ts';
import { type KafkaClient, REQUEST_TIMEOUT_MS } from './kafka-client.ts';

/** What a topic became when it was first used. It is kept in Postgres: brokers forget. */
export interface TopicIdentity {
  logId: Buffer;
  /** The offset of the identity record in each partition; our records begin behind it. */
  marks: number[];
}

/** In the header of every record of ours: which log it is of. */
export const LOG_HEADER = 'metergate-log';
/** In the header of the identity record, which is before them. */
export const IDENTITY_HEADER = 'metergate-birth';

/** Of a lock in Postgres: two processes that start at once make one log. */
const IDENTITY_LOCK = 7_202_608;

interface Topic {
  topic: string;
  partitions: number;
}

/** Finds which log the topic is, or makes it one. Throws Fatal `bad_configuration`, and what Kafka throws. */
export async function findOrMakeLog(pool: Pool, client: KafkaClient, topic: Topic): Promise<TopicIdentity> {
  return await inTransaction(pool, async (db) => {
    await db.query('SELECT pg_advisory_xact_lock($1)', [IDENTITY_LOCK]);
    const known = await readIdentity(db, topic);
    if (known) return known;
    const logId = randomBytes(16);
    const identity = { logId, marks: await writeMarks(client, topic, logId) };
    await db.query('INSERT INTO kafka_logs (topic, log_id, marks) VALUES ($1, $2, $3)', [
      topic.topic,
      logId.toString('hex'),
      identity.marks,
    ]);
    return identity;
  });
}

async function readIdentity(
  db: PoolClient,
  { topic, partitions }: Topic,
): Promise<TopicIdentity | undefined> {
  const { rows } = await db.query<{ logId: string; marks: number[] }>(
    'SELECT log_id AS "logId", marks FROM kafka_logs WHERE topic = $1',
    [topic],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (row.marks.length !== partitions) {
    throw new Fatal(
      'bad_configuration',
      `Bad configuration: KAFKA_PARTITIONS is ${partitions}, and the log ${topic} has ${row.marks.length}: ` +
        'the number never changes.',
    );
  }
  return { logId: Buffer.from(row.logId, 'hex'), marks: row.marks.map(Number) };
}

/** One record in each partition. Those of a start that failed in the middle stay and mean nothing. */
async function writeMarks(
  client: KafkaClient,
  { topic, partitions }: Topic,
  logId: Buffer,
): Promise<number[]> {
  const marks: number[] = [];
  for (let partition = 0; partition < partitions; partition++) {
    const broker = await client.leaderOf(topic, partition);
    const message = {
      value: Buffer.from(`The log ${logId.toString('hex')} of Metergate begins here.`),
      timestamp: String(Date.now()),
      headers: { [IDENTITY_HEADER]: logId.toString('hex') },
    };
    const { topics } = await broker.produce({
      acks: -1,
      timeout: REQUEST_TIMEOUT_MS,
      topicData: [{ topic, partitions: [{ partition, messages: [message] }] }],
    });
    marks.push(Number(topics[0]?.partitions[0]?.baseOffset));
  }
  return marks;
}
