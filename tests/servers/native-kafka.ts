import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quietPort } from '../support/quiet-port.ts';
import { kafkaJars } from './kafka-jars.ts';
import { startNativeServer } from './native-server.ts';
import { responseOf } from './response-of.ts';
import type { TestingServer, TestingServerOptions } from './testing-server.ts';

const FORMAT_TIMEOUT_MS = 60_000;
/** One broker for two cores that it shares: its collector must not take a thread for each. */
const JAVA = ['-Xms96m', '-Xmx512m', '-XX:+UseSerialGC'];

/** Of a node that is broker and controller. Topics are created explicitly, never by being named. */
export const ONE_NODE = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
  'auto.create.topics.enable': 'false',
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
};

/** A server of that one node. */
export async function startNativeKafka({
  settings,
  login,
  tls,
}: TestingServerOptions): Promise<TestingServer & { plainUrl: string }> {
  const jars = await kafkaJars();
  const [port, controllerPort, loginPort] = [await quietPort(), await quietPort(), await quietPort()];
  const protocol = tls ? 'SASL_SSL' : 'SASL_PLAINTEXT';
  const properties = (folder: string): Record<string, string> => ({
    ...ONE_NODE,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: [
      `PLAINTEXT://127.0.0.1:${port}`,
      `CONTROLLER://127.0.0.1:${controllerPort}`,
      ...(login ? [`LOGIN://127.0.0.1:${loginPort}`] : []),
    ].join(','),
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:${protocol}`,
    'inter.broker.listener.name': 'PLAINTEXT',
    ...(login ? withLogin(login) : {}),
    ...(tls ? withTls(tls) : {}),
    'log.dirs': join(folder, 'log'),
    'offsets.topic.num.partitions': '1',
    ...settings,
  });
  const server = await startNativeServer({
    name: 'kafka',
    url: `127.0.0.1:${login ? loginPort : port}`,
    prepare(folder) {
      const lines = Object.entries(properties(folder)).map(([name, value]) => `${name}=${value}\n`);
      const file = join(folder, 'server.properties');
      writeFileSync(file, lines.join(''));
      const id = randomBytes(16).toString('base64url');
      // In one word: one id in 64 begins as an option does.
      const identity = `--cluster-id=${id}`;
      const storage = ['-cp', jars, 'kafka.tools.StorageTool', 'format', identity, '-c', file];
      const format = [...storage, ...(login ? scramOf(login) : [])];
      execFileSync('java', ['-XX:TieredStopAtLevel=1', ...format], {
        stdio: 'ignore',
        timeout: FORMAT_TIMEOUT_MS,
      });
    },
    command: (folder) => ({
      program: 'java',
      options: [...JAVA, '-cp', jars, 'kafka.Kafka', join(folder, 'server.properties')],
    }),
    isUp: () => knowsABroker(port),
  });
  return { ...server, plainUrl: `127.0.0.1:${port}` };
}

function withLogin({ username, password }: { username: string; password: string }): Record<string, string> {
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  return {
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.login.plain.sasl.jaas.config': `${module} required user_${username}="${password}";`,
    'listener.name.login.scram-sha-256.sasl.jaas.config': `${SCRAM} required;`,
    'listener.name.login.scram-sha-512.sasl.jaas.config': `${SCRAM} required;`,
  };
}

const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule';

/** A node that is broker and controller has them from its first format on. */
function scramOf({ username, password }: { username: string; password: string }): string[] {
  const names = ['SCRAM-SHA-256', 'SCRAM-SHA-512'];
  return names.flatMap((name) => ['--add-scram', `${name}=[name=${username},password=${password}]`]);
}

function withTls({ certificate, key }: { certificate: string; key: string }): Record<string, string> {
  const oneLine = (pem: string) => pem.trim().replaceAll('\n', '\\n');
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': oneLine(certificate),
    'ssl.keystore.key': oneLine(key),
  };
}

/** Metadata, version 4, of no topic. A broker takes requests before it counts as one of its own cluster. */
const ASK_METADATA = Buffer.from('000000140003000400000001000570726f62650000000000', 'hex');
const COUNT_AT = 12;

async function knowsABroker(port: number): Promise<boolean> {
  const response = await responseOf(port, ASK_METADATA);
  return response !== undefined && response.length >= COUNT_AT + 4 && response.readInt32BE(COUNT_AT) > 0;
}
