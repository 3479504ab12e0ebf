import { hasContainerEngine, startContainerServer } from './container-server.ts';
import { hasKafkaJars, KAFKA_VERSION } from './kafka-jars.ts';
import { ONE_NODE, startNativeKafka } from './native-kafka.ts';
import type { TestingServer, TestingServerOptions } from './testing-server.ts';

const PORT = 9_092;
const CONTROLLER_PORT = 9_093;

export function canStartKafka(): boolean {
  return hasContainerEngine() || hasKafkaJars();
}

/** A private broker for fault injection: by Docker where an engine responds, else from its jars. */
export async function startKafka(options: TestingServerOptions = {}): Promise<TestingServer> {
  // A login would take a file inside the container.
  if (!hasContainerEngine() || options.login) return await startNativeKafka(options);
  return await startContainerServer({
    image: `apache/kafka:${KAFKA_VERSION}`,
    port: PORT,
    url: (hostPort) => `127.0.0.1:${hostPort}`,
    environment: (hostPort) => asVariables({ ...settings(hostPort), ...options.settings }),
    command: [],
    readyLine: /Kafka Server started/,
  });
}

/** Clients receive the port outside; the container itself listens on its own. */
function settings(hostPort: number): Record<string, string> {
  return {
    ...ONE_NODE,
    listeners: `PLAINTEXT://:${PORT},CONTROLLER://:${CONTROLLER_PORT}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${hostPort}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'controller.quorum.voters': `1@localhost:${CONTROLLER_PORT}`,
  };
}

/** `log.retention.ms` is KAFKA_LOG_RETENTION_MS there. */
function asVariables(given: Record<string, string>): Record<string, string> {
  const named = Object.entries(given).map(([name, value]) => [
    `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`,
    value,
  ]);
  return Object.fromEntries(named);
}
