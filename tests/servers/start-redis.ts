import { hasContainerEngine, startContainerServer } from './container-server.ts';
import { hasRedisServer, redisSettings, startNativeRedis } from './native-redis.ts';
import type { TestingServer, TestingServerOptions } from './testing-server.ts';

const PORT = 6_379;

export function canStartRedis(): boolean {
  return hasContainerEngine() || hasRedisServer();
}

/**
 * A private server for fault injection: Valkey by Docker where an engine responds, else what is installed.
 */
export async function startRedis(options: TestingServerOptions = {}): Promise<TestingServer> {
  if (!hasContainerEngine()) return await startNativeRedis(options);
  return await startContainerServer({
    image: 'valkey/valkey:8.1',
    port: PORT,
    url: (hostPort) => `redis://127.0.0.1:${hostPort}`,
    environment: () => ({}),
    command: ['valkey-server', ...redisSettings(options)],
    readyLine: /Ready to accept connections/,
  });
}
