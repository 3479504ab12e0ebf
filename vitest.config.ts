import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { brokenModules, brokenProcesses } from './bench/torture/breaks/break-plugin.ts';

/** One more than cores: many tests wait for a clock, and the whole run has four minutes on two cores. */
const WORKERS = availableParallelism() + 1;
const NOWHERE = ['**/node_modules/**', '**/dist/**', '**/data/**'];

/** A test's kind is in its file's name; the kinds run one after the other, cheapest first. */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        plugins: brokenModules(),
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...NOWHERE, '**/*.store.test.ts', '**/*.sys.test.ts'],
          pool: 'forks',
          // Per project, since a project does not inherit it: a hanging test must name itself in time.
          testTimeout: 20_000,
          hookTimeout: 30_000,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: brokenModules(),
        test: {
          name: 'store',
          include: ['**/*.store.test.ts'],
          exclude: NOWHERE,
          // A chdb folder binds its process, and the library holds one folder at a time: a fork per file.
          pool: 'forks',
          isolate: true,
          maxWorkers: WORKERS,
          globalSetup: ['infra/postgres/test-server.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: brokenProcesses(),
        test: {
          name: 'sys',
          include: ['**/*.sys.test.ts'],
          exclude: NOWHERE,
          // Each file starts whole Metergates: two at once would fight for the cores.
          pool: 'forks',
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 180_000,
          hookTimeout: 90_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
