import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestProject, type TestSpecification } from 'vitest/node';
import { brokenModules, brokenProcesses } from './tests/mutants/mutant-plugin.ts';
import { testsNotRunHere } from './tests/support/machine-requirements.ts';
import { memoryTmpdir } from './tests/support/memory-tmpdir.ts';

/** One more than cores: many tests wait for a clock. */
const WORKERS = availableParallelism() + 1;
const NOWHERE = ['**/node_modules/**', '**/dist/**', '**/dist-tests/**', '**/data/**'];

/**
 * A test's kind is in its file's name, before `.test.ts`:
 *
 * - none: within this process, without a store (unit).
 * - store: on a real Postgres or warehouse.
 * - sys: whole processes, of which three run at once: they wait for starts, stops and locks a good part of
 *   their time.
 * - timed: whole processes; judges how long something takes, so one runs at a time.
 * - whole, whole-timed, whole-store: the same of what `npm test` leaves to `npm run test:whole`: minutes of
 *   both cores.
 * - distributed-store, distributed-sys: need a broker and a key store, which take longer to start than most
 *   tests take; left to `npm run test:distributed`.
 * - proof: shows that tests can fail; left to `npm run breaks`.
 */
const KINDS = [
  'store',
  'sys',
  'timed',
  'whole',
  'whole-timed',
  'whole-store',
  'distributed-store',
  'distributed-sys',
  'proof',
] as const;
const filesOf = (kind: (typeof KINDS)[number]) => [`**/*.${kind}.test.ts`];
/** Servers for the tests of a run; but Postgres, each is started when the first test asks for it. */
const POSTGRES = 'tests/support/test-server.ts';
const SERVERS = [POSTGRES, 'tests/servers/shared-servers.ts'];

/** What this machine lacks something for is left out, loudly here, and named at the end of `npm test`. */
const NOT_RUN_HERE = testsNotRunHere().map(({ pattern, why }) => {
  process.stderr.write(`!!! not run on this machine: ${why}\n`);
  return pattern;
});

/**
 * Node reads graphql's CommonJS files and Vite its other ones: with both, objects of one are none of the
 * other.
 */
const RESOLVED = { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] };

interface Tests {
  maxWorkers: number;
  groupOrder: number;
}

function processes(name: (typeof KINDS)[number], { maxWorkers, groupOrder }: Tests) {
  return {
    plugins: brokenProcesses(),
    resolve: RESOLVED,
    test: {
      name,
      include: filesOf(name),
      exclude: [...NOWHERE, ...NOT_RUN_HERE],
      pool: 'forks' as const,
      fileParallelism: maxWorkers > 1,
      maxWorkers,
      globalSetup: 'tests/support/prepared-cluster.ts',
      testTimeout: 600_000,
      hookTimeout: 180_000,
      sequence: { groupOrder },
    },
  };
}

interface StoreTests extends Omit<Tests, 'maxWorkers'> {
  /** False where files share a process, one after the other: each closes its databases and its folders. */
  isolate: boolean;
  globalSetup: string | string[];
}

function stores(name: (typeof KINDS)[number], { groupOrder, isolate, globalSetup }: StoreTests) {
  return {
    plugins: brokenModules(),
    resolve: RESOLVED,
    test: {
      name,
      include: filesOf(name),
      exclude: [...NOWHERE, ...NOT_RUN_HERE],
      pool: 'forks' as const,
      setupFiles: 'tests/support/close-kept-engine.ts',
      isolate,
      env: { TMPDIR: memoryTmpdir() },
      maxWorkers: WORKERS,
      globalSetup,
      testTimeout: 180_000,
      hookTimeout: 180_000,
      sequence: { groupOrder },
    },
  };
}

/**
 * Longest first: begun last, a file of a minute would be a minute in which the other workers wait. Engines
 * before all: every third of their tests makes V8 mark the whole heap, for the memory that they take outside
 * of it, and what earlier files left in it made that three times the work.
 */
const LONG = [
  'wasm/wasm-engine.test.ts',
  'js/distributed-engine.test.ts',
  'js/js-engine.test.ts',
  'http/uws-front.test.ts',
  'delivery/send/signatures.test.ts',
  'clickhouse/clickhouse-http.whole-store.test.ts',
  'postgres/slow-start.whole-store.test.ts',
  'postgres/embedded.store.test.ts',
  'audit/audit.whole-store.test.ts',
  'clickhouse/embedded/chdb.store.test.ts',
  'cache/metered-cache.store.test.ts',
  'upgrade/view-change.whole-store.test.ts',
  'aggregator/load/load.store.test.ts',
  'aggregator/load/load-faults.store.test.ts',
  'crash/kills.sys.test.ts',
  'app/main-job.whole.test.ts',
  'distributed/distributed.distributed-sys.test.ts',
  'upgrade/rejected-data.sys.test.ts',
  'tests/tenancy/tenancy.whole.test.ts',
  'upgrade/upgrade.whole.test.ts',
  'crash-consistency/power-cut.sys.test.ts',
  'settlement/settlement.whole.test.ts',
  'retention/retention.whole.test.ts',
  'crash-consistency/disk.sys.test.ts',
  'changes/changes.whole.test.ts',
];

/** The pure ones, which are many and short, behind those of stores: no worker waits long at the end. */
const pureLast = (project: TestProject) => (project.name === 'unit' ? 1 : 0);

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    projects.sort((one, other) => pureLast(one) - pureLast(other));
    return projects.flatMap((project) => {
      const ofIt = sorted.filter((file) => file.project === project);
      const long = LONG.flatMap((name) => ofIt.filter(({ moduleId }) => moduleId.endsWith(`/${name}`)));
      return [...long, ...ofIt.filter((file) => !long.includes(file))];
    });
  }
}

export default defineConfig({
  test: {
    reporters: ['default'],
    // Kinds share most modules: without it each would have them compiled again. Kept by content and by the
    // names of plugins, so that a mutant (mutant-plugin.ts) has modules of its own.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest-modules' },
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: brokenModules(),
        resolve: RESOLVED,
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...NOWHERE, ...KINDS.flatMap(filesOf), ...NOT_RUN_HERE],
          pool: 'forks',
          // They leave nothing behind: a process for each file was a quarter of their work.
          isolate: false,
          // Per project, since a project does not inherit it: a hanging test must name itself in time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      // Modules take longer to load than many of these files to run.
      stores('store', { isolate: false, globalSetup: POSTGRES, groupOrder: 0 }),
      processes('sys', { maxWorkers: WORKERS, groupOrder: 2 }),
      processes('timed', { maxWorkers: 1, groupOrder: 3 }),
      processes('whole', { maxWorkers: WORKERS, groupOrder: 4 }),
      processes('whole-timed', { maxWorkers: 1, groupOrder: 5 }),
      stores('whole-store', { isolate: false, globalSetup: POSTGRES, groupOrder: 9 }),
      stores('distributed-store', { isolate: true, globalSetup: SERVERS, groupOrder: 6 }),
      processes('distributed-sys', { maxWorkers: 1, groupOrder: 7 }),
      {
        test: {
          name: 'proof',
          include: filesOf('proof'),
          exclude: NOWHERE,
          pool: 'forks',
          globalSetup: SERVERS,
          sequence: { groupOrder: 8 },
        },
      },
    ],
  },
});
