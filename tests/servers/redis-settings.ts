import type { TestingServerOptions } from './testing-server.ts';

/** As its command line takes them: with an append-only file, so what a client was told outlives SIGKILL. */
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
