import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { hasTar, NEEDY_TESTS } from './machine-requirements.ts';
import { mayMount } from './small-disk.ts';
import { hasStrace, mayAttach } from './system-calls.ts';
import { testFolder } from './test-folder.ts';

afterEach(() => vi.unstubAllEnvs());

it('every file that is named for its needs is there', () => {
  const named = NEEDY_TESTS.map(({ pattern }) => pattern).filter((pattern) => !pattern.includes('*'));
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

it('without its tool nothing is there', () => {
  vi.stubEnv('PATH', testFolder());
  expect([hasStrace(), mayAttach(), mayMount(), hasTar()]).toEqual([false, false, false, false]);
});

/** In a container without the right to trace: its -V alone is as it should be. */
it('a strace that may not trace is none', () => {
  const folder = testFolder();
  const tool = join(folder, 'strace');
  writeFileSync(tool, '#!/bin/sh\n[ "$1" = -V ]\n');
  chmodSync(tool, 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  expect(hasStrace()).toBe(false);
  expect(mayAttach()).toBe(false);
});
