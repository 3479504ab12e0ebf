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

/** Tests on a broker and a key store, which take longer to start than most tests take. */
const SHARED = [
  'infra/testing-servers/servers.store.test.ts',
  'infra/kafka/**/*.store.test.ts',
  'infra/valkey/**/*.store.test.ts',
  '**/*distributed*.store.test.ts',
  '**/*distributed*.sys.test.ts',
];
/** Servers for the tests of a run; each is started when the first test asks for it. */
const SERVERS = ['infra/postgres/test-server.ts', 'infra/testing-servers/shared-servers.ts'];

function isOfStores(pattern: string): boolean {
  return pattern.endsWith('.store.test.ts');
}

/** What this machine lacks something for is left out, and infra/test-run.mjs names it, loudly. */
function notRunHere(): string[] {
  return testsNotRunHere().map(({ pattern }) => pattern);
}

interface Tests {
  include: string[];
  exclude: string[];
  maxWorkers: number;
  groupOrder: number;
}

function processes(name: string, { include, exclude, maxWorkers, groupOrder }: Tests) {
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

function stores(name: string, { include, exclude, groupOrder }: Omit<Tests, 'maxWorkers'>) {
  return {
    plugins: brokenModules(),
    test: {
      name,
      include,
      exclude: [...NOWHERE, ...exclude, ...notRunHere()],
      // A chdb folder binds its process, and the library holds one folder at a time: a fork per file.
      pool: 'forks' as const,
      isolate: true,
      maxWorkers: WORKERS,
      globalSetup: SERVERS,
      testTimeout: 60_000,
      hookTimeout: 90_000,
      sequence: { groupOrder },
    },
  };
}

/** Longest first: begun last, a file of a minute would be a minute in which the other workers wait. */
const LONG = [
  'engine/fast-engine.test.ts',
  'http/uws-front.test.ts',
  'delivery/signatures.test.ts',
  'audit/audit.store.test.ts',
  'upgrade/view-change.store.test.ts',
  'clickhouse/clickhouse-http.store.test.ts',
  'aggregator/load.store.test.ts',
  'aggregator/load-faults.store.test.ts',
  'infra/main-job.sys.test.ts',
  'torture/kills.sys.test.ts',
  'distributed/distributed.sys.test.ts',
  'webhooks/webhooks.sys.test.ts',
  'control-plane/tenancy.sys.test.ts',
  'power/power-cut.sys.test.ts',
  'upgrade/refused-data.sys.test.ts',
  'upgrade/upgrade.sys.test.ts',
  'settlement/settlement.sys.test.ts',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const ofIt = sorted.filter((file) => file.project === project);
      const long = LONG.flatMap((name) => ofIt.filter(({ moduleId }) => moduleId.endsWith(`/${name}`)));
      return [...long, ...ofIt.filter((file) => !long.includes(file))];
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
          exclude: [...NOWHERE, '**/*.store.test.ts', '**/*.sys.test.ts', '**/*.proof.test.ts'],
          pool: 'forks',
          // They leave nothing behind: a process for each file was a quarter of their work.
          isolate: false,
          // Per project, since a project does not inherit it: a hanging test must name itself in time.
          testTimeout: 40_000,
          hookTimeout: 30_000,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      stores('store', { include: ['**/*.store.test.ts'], exclude: SHARED, groupOrder: 1 }),
      processes('sys', {
        include: ['**/*.sys.test.ts'],
        exclude: [...TIMED, ...SHARED],
        maxWorkers: 2,
        groupOrder: 2,
      }),
      processes('timed', { include: TIMED, exclude: [], maxWorkers: 1, groupOrder: 3 }),
      // What processes share past one machine: `npm run test:shared`, which `npm test` leaves to it.
      stores('shared-store', { include: SHARED.filter(isOfStores), exclude: [], groupOrder: 4 }),
      processes('shared-sys', {
        include: SHARED.filter((pattern) => !isOfStores(pattern)),
        exclude: [],
        maxWorkers: 1,
        groupOrder: 5,
      }),
      {
        // Proofs that tests can fail: `npm run breaks`, which `npm test` leaves to it.
        test: {
          name: 'proofs',
          include: ['**/*.proof.test.ts'],
          exclude: NOWHERE,
          pool: 'forks',
          globalSetup: SERVERS,
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
});
