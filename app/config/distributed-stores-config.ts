import { type KafkaLogin, type KafkaSettings, SASL_MECHANISMS } from '../../infra/kafka/kafka-settings.ts';
import type { ValkeySettings } from '../../infra/valkey/valkey-settings.ts';
import type { EnvReader } from './env-reader.ts';

/** The variables of the stores that several processes share. */
export const DISTRIBUTED_VARIABLES = [
  'KAFKA_BROKERS', //            host:port, …: the log on Kafka in place of DATA_DIR; only with REDIS_URL
  'KAFKA_TOPIC', //              metergate-usage
  'KAFKA_PARTITIONS', //         fixed when the topic is first used; 8
  'KAFKA_REPLICATION', //        copies of the topic at least; 3
  'KAFKA_MIN_ISR', //            of them in step before a write is acknowledged; 2
  'KAFKA_AUTO_CREATE', //        false: a missing topic is an error; true
  'KAFKA_TLS', //                true: TLS to the brokers; false
  'KAFKA_SASL_MECHANISM', //     plain, scram-sha-256 or scram-sha-512, with the two below; none
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'REDIS_URL', //                the keys on Valkey or Redis in place of DATA_DIR; only with KAFKA_BROKERS
  'HOT_WINDOW_HOURS', //         how long keys are kept there; 72
  'CONTROL_PLANE_URL', //        where an ingest process of its own forwards what is not usage
  'STORES_WAIT_SECONDS', //      how long a role of its own waits for each store at its start; 60
] as const;

export interface DistributedStores {
  kafka: KafkaSettings;
  keys: ValkeySettings;
}

type Variable = (typeof DISTRIBUTED_VARIABLES)[number];
type Env = Partial<Record<Variable, string>>;

const HOUR_MS = 3_600_000;
const PARTITIONS_MAX = 512;
const BROKERS = /^[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*$/;
const TOPIC = /^[a-zA-Z0-9._-]{1,200}$/;

/** Undefined where neither is named. One without the other is a fault. */
export function readDistributedStores(env: Env, given: EnvReader<string>): DistributedStores | undefined {
  const read = given as EnvReader<Variable>;
  const brokers = read.optionalMatching(
    'KAFKA_BROKERS',
    (text) => BROKERS.test(text),
    'host:port, host:port, …',
  );
  const url = read.url('REDIS_URL', ['redis:', 'rediss:']);
  if (!env.KAFKA_BROKERS && env.REDIS_URL) read.fault('KAFKA_BROKERS', 'has to be set where REDIS_URL is');
  if (env.KAFKA_BROKERS && !env.REDIS_URL) read.fault('REDIS_URL', 'has to be set where KAFKA_BROKERS is');
  const kafka = readKafka(brokers ?? '', env, read);
  const hotWindowMs = HOUR_MS * read.integer('HOT_WINDOW_HOURS', { fallback: 72, min: 1, max: 24 * 366 });
  return brokers && url ? { kafka, keys: { url, hotWindowMs } } : undefined;
}

function readKafka(brokers: string, env: Env, read: EnvReader<Variable>): KafkaSettings {
  const replication = read.integer('KAFKA_REPLICATION', { fallback: 3, min: 1, max: 32 });
  const minIsr = read.integer('KAFKA_MIN_ISR', { fallback: Math.min(2, replication), min: 1, max: 32 });
  if (minIsr > replication) read.fault('KAFKA_MIN_ISR', 'cannot be more than KAFKA_REPLICATION');
  const sasl = readLogin(env, read);
  return {
    brokers: brokers.split(','),
    topic: read.matching('KAFKA_TOPIC', 'metergate-usage', (text) => TOPIC.test(text), 'the name of a topic'),
    partitions: read.integer('KAFKA_PARTITIONS', { fallback: 8, min: 2, max: PARTITIONS_MAX }),
    replication,
    minIsr,
    autoCreate: read.boolean('KAFKA_AUTO_CREATE', true),
    tls: read.boolean('KAFKA_TLS', false),
    ...(sasl ? { sasl } : {}),
  };
}

function readLogin(env: Env, read: EnvReader<Variable>): KafkaLogin | undefined {
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = env;
  const named = read.optionalMatching(
    'KAFKA_SASL_MECHANISM',
    (text) => SASL_MECHANISMS.some((one) => one === text),
    SASL_MECHANISMS.join(', '),
  );
  const mechanism = SASL_MECHANISMS.find((one) => one === named);
  if (mechanism && username && password) return { mechanism, username, password };
  if (env.KAFKA_SASL_MECHANISM || username || password) {
    read.fault('KAFKA_SASL_MECHANISM', 'is of use only together with KAFKA_SASL_USERNAME and _PASSWORD');
  }
  return undefined;
}
