import type { TestingServerOptions } from './testing-server.ts';

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
