import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { brokenModules, brokenProcesses } from './bench/torture/breaks/break-plugin.ts';
import { testsNotRunHere } from './bench/torture/machine-means.ts';

/** One more than cores: many tests wait for a clock. */
const WORKERS = availableParallelism() + 1;
const NOWHERE = ['**/node_modules/**', '**/dist/**', '**/data/**'];

/**
 * Tests of whole processes that judge how long something takes: each runs alone. Of the others two run at
 * once: they wait for starts, stops and locks more than they work.
 */
const TIMED = [
  'bench/torture/limits.sys.test.ts',
  'bench/torture/away/*.sys.test.ts',
  'bench/torture/hostile/*.sys.test.ts',
];

/** What this machine lacks something for is left out, and infra/test-run.mjs names it, loudly. */
function notRunHere(): string[] {
  return testsNotRunHere().map(({ pattern }) => pattern);
}

interface ProcessTests {
  include: string[];
  exclude: string[];
  maxWorkers: number;
  groupOrder: number;
}

function processes(name: string, { include, exclude, maxWorkers, groupOrder }: ProcessTests) {
  return {
    plugins: brokenProcesses(),
    test: {
      name,
      include,
      exclude: [...NOWHERE, ...exclude, ...notRunHere()],
      pool: 'forks' as const,
      fileParallelism: maxWorkers > 1,
      maxWorkers,
      testTimeout: 420_000,
      hookTimeout: 90_000,
      sequence: { groupOrder },
    },
  };
}

/** Begun last, a file of a minute would be a minute in which the other workers wait. */
const LONG = [
  'breaks.store.test.ts',
  'distributed.sys.test.ts',
  'kills.sys.test.ts',
  'main-job.sys.test.ts',
  'webhooks.sys.test.ts',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const ofIt = sorted.filter((file) => file.project === project);
      const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/${name}`));
      return [...ofIt.filter(isLong), ...ofIt.filter((file) => !isLong(file))];
    });
  }
}

/** A test's kind is in its file's name; the kinds run one after the other, cheapest first. */
export default defineConfig({
  test: {
    reporters: ['default'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: brokenModules(),
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...NOWHERE, '**/*.store.test.ts', '**/*.sys.test.ts'],
          pool: 'forks',
          // Per project, since a project does not inherit it: a hanging test must name itself in time.
          testTimeout: 40_000,
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
          exclude: [...NOWHERE, ...notRunHere()],
          // A chdb folder binds its process, and the library holds one folder at a time: a fork per file.
          pool: 'forks',
          isolate: true,
          maxWorkers: WORKERS,
          globalSetup: ['infra/postgres/test-server.ts', 'infra/testing-servers/shared-servers.ts'],
          testTimeout: 60_000,
          hookTimeout: 90_000,
          sequence: { groupOrder: 1 },
        },
      },
      processes('sys', { include: ['**/*.sys.test.ts'], exclude: TIMED, maxWorkers: 2, groupOrder: 2 }),
      processes('timed', { include: TIMED, exclude: [], maxWorkers: 1, groupOrder: 3 }),
    ],
  },
});
