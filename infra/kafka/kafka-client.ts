import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Admin, type ISocketFactory, Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import { giveUpSilent } from './give-up-silent.ts';
import type { KafkaLogin, KafkaSettings } from './kafka-settings.ts';
import type { Connected } from './send-request.ts';
import { type InnerPoolBuilder, repairConnections } from './sound-connections.ts';

/**
 * What we need of a cluster, one request at a time: no consumer group, no batching producer, no retries. Both
 * would decide for us what an unknown outcome means and where a partition continues. kafkajs is unmaintained:
 * this file alone knows it, and send-request.ts what a connection of it looks like inside.
 */
export interface KafkaClient {
  readonly admin: Admin;
  /** To the first broker that responds: it reports what it supports. Throws what kafkajs throws. */
  connect(): Promise<void>;
  /** Of one topic; afterwards it can be written and read. Throws what kafkajs throws. */
  open(topic: string): Promise<void>;
  /** The highest version of a request that the brokers know; undefined when they do not know it. */
  highestVersion(apiKey: number): number | undefined;
  /** The leader of a partition, connected. */
  leaderOf(topic: string, partition: number): Promise<KafkaBroker>;
  /** Of all these partitions. `latest`: behind the last record that is durable. */
  offsets(topic: string, partitions: number[], which: 'earliest' | 'latest'): Promise<number[]>;
  /** After an error: leaders may have changed. Never throws. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface KafkaBroker extends Connected {
  produce(request: {
    acks: -1;
    timeout: number;
    topicData: Array<{
      topic: string;
      partitions: Array<{ partition: number; messages: KafkaMessage[] }>;
    }>;
  }): Promise<{ topics: Array<{ partitions: Array<{ baseOffset: string }> }> }>;
  fetch(request: {
    replicaId: -1;
    isolationLevel: 0;
    maxWaitTime: number;
    minBytes: number;
    maxBytes: number;
    topics: Array<{
      topic: string;
      partitions: Array<{ partition: number; fetchOffset: string; maxBytes: number }>;
    }>;
  }): Promise<{ responses: Array<{ partitions: Array<{ messages: FetchedRecord[] }> }> }>;
}

export interface KafkaMessage {
  key?: Buffer;
  value: Buffer;
  timestamp: string;
  headers?: Record<string, Buffer | string>;
}

export interface FetchedRecord {
  offset: string;
  value: Buffer | null;
  headers: Record<string, Buffer | undefined>;
  /** The control record of a transaction, which another program wrote. */
  isControlRecord?: boolean;
}

/** The part of kafkajs' inner cluster that is used. */
interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>;
  findBroker(node: { nodeId: string }): Promise<KafkaBroker>;
  fetchTopicsOffset(topics: unknown[]): Promise<Array<{ partitions: PartitionOffset[] }>>;
  brokerPool: {
    versions: Record<number, { maxVersion: number }> | null;
    connectionPoolBuilder: InnerPoolBuilder;
  };
}

interface PartitionOffset {
  partition: number;
  offset: string;
}

/** Longer than a busy broker takes, far shorter than a claim's lease. */
export const REQUEST_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 1_000;
const METADATA_AGE_MS = 60_000;
const READ_UNCOMMITTED = 0;

export function createKafkaClient(settings: KafkaSettings, log: Logger): KafkaClient {
  const kafka = new Kafka(configOf(settings, log));
  const cluster = innerCluster(kafka);
  const admin = kafka.admin({ retry: { retries: 1 } });
  let refreshing: Promise<void> | undefined;

  return {
    admin,
    connect: () => cluster.connect(),
    async open(topic) {
      await cluster.connect();
      await cluster.addTargetTopic(topic);
    },
    highestVersion: (apiKey) => cluster.brokerPool.versions?.[apiKey]?.maxVersion,
    async leaderOf(topic, partition) {
      const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
      return await cluster.findBroker({ nodeId });
    },
    async offsets(topic, partitions, which) {
      const wanted = partitions.map((partition) => ({ partition }));
      const [found] = await cluster.fetchTopicsOffset([
        { topic, partitions: wanted, fromBeginning: which === 'earliest' },
      ]);
      const offsets = new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return partitions.map((partition) => offsets.get(partition) ?? Number.NaN);
    },
    refresh() {
      refreshing ??= cluster
        .refreshMetadata()
        .catch((err: unknown) => log.debug({ err }, 'Kafka reports no leader'))
        .finally(() => {
          refreshing = undefined;
        });
      return refreshing;
    },
    async close() {
      await Promise.allSettled([cluster.disconnect(), admin.disconnect()]);
    },
  };
}

function configOf({ brokers, tls, sasl }: KafkaSettings, log: Logger): KafkaConfig {
  return {
    clientId: 'metergate',
    brokers,
    ssl: tls,
    ...(sasl ? { sasl: loginOf(sasl) } : {}),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    authenticationTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    socketFactory: openSocket,
    retry: { retries: 0, initialRetryTime: 50 },
    logLevel: logLevel.WARN,
    logCreator:
      () =>
      ({ log: entry }) =>
        log.debug({ kafka: entry }, 'kafkajs'),
  };
}

const KEEP_ALIVE_MS = 60_000;

/** As kafkajs opens them itself, but for what becomes of one that falls silent. */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const name = isIP(host) ? {} : { servername: host };
  const socket = ssl
    ? connectTls({ host, port, ...name, ...ssl }, onConnect)
    : connectPlain({ host, port }, onConnect);
  return giveUpSilent(socket.setKeepAlive(true, KEEP_ALIVE_MS));
};

function loginOf({ mechanism, username, password }: KafkaLogin): NonNullable<KafkaConfig['sasl']> {
  if (mechanism === 'scram-sha-256') return { mechanism: 'scram-sha-256', username, password };
  if (mechanism === 'scram-sha-512') return { mechanism: 'scram-sha-512', username, password };
  return { mechanism: 'plain', username, password };
}

/** Producer and consumer of kafkajs are built over it; it is not in its types. */
function innerCluster(kafka: Kafka): Cluster {
  const maker = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  const make = Reflect.get(kafka, maker ?? '') as (options: unknown) => Cluster;
  const cluster = make({
    metadataMaxAge: METADATA_AGE_MS,
    allowAutoTopicCreation: false,
    maxInFlightRequests: null,
    isolationLevel: READ_UNCOMMITTED,
  });
  repairConnections(cluster.brokerPool.connectionPoolBuilder);
  return cluster;
}
