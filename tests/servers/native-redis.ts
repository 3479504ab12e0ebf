import { spawnSync } from 'node:child_process';
import { quietPort } from '../support/quiet-port.ts';
import { startNativeServer } from './native-server.ts';
import { responseOf } from './response-of.ts';
import type { TestingServer, TestingServerOptions } from './testing-server.ts';

export function hasRedisServer(): boolean {
  return redisProgram() !== undefined;
}

export async function startNativeRedis(options: TestingServerOptions): Promise<TestingServer> {
  const program = redisProgram() ?? 'redis-server';
  const port = await quietPort();
  const place = ['--port', String(port), '--bind', '127.0.0.1'];
  return await startNativeServer({
    name: 'redis',
    url: `redis://127.0.0.1:${port}`,
    prepare: () => undefined,
    command: (folder) => ({ program, options: [...place, '--dir', folder, ...redisSettings(options)] }),
    isUp: () => responsesPing(port),
  });
}

function redisProgram(): string | undefined {
  return ['valkey-server', 'redis-server'].find((one) => spawnSync(one, ['--version']).status === 0);
}

/**
 * Up once it has read its file: until then it rejects every command. An authentication error is a response.
 */
async function responsesPing(port: number): Promise<boolean> {
  const response = await responseOf(port, Buffer.from('PING\r\n'));
  return /^(\+PONG|-NOAUTH)/.test(response?.toString() ?? '');
}

/** Command line options: with an append-only file, so that acknowledged writes survive SIGKILL. */
export function redisSettings({ settings, login }: TestingServerOptions): string[] {
  const all: Record<string, string> = {
    save: '',
    appendonly: 'yes',
    'maxmemory-policy': 'noeviction',
    ...(login ? { requirepass: login.password } : {}),
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
}
