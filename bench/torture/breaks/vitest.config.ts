import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** `npm run breaks`. Apart from `npm test`, which proves that the tests pass: this proves that they can fail. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..', '..'),
    include: ['bench/torture/breaks/*.proof.test.ts'],
    globalSetup: ['infra/postgres/test-server.ts'],
    pool: 'forks',
  },
});
