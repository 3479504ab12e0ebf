import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestProject, type TestSpecification } from 'vitest/node';
import { brokenModules, brokenProcesses } from './tests/mutants/break-plugin.ts';
import { testsNotRunHere } from './tests/support/machine-requirements.ts';
import { memoryTmpdir } from './tests/support/memory-tmpdir.ts';

/** One more than cores: many tests wait for a clock. */
const WORKERS = availableParallelism() + 1;
const NOWHERE = ['**/node_modules/**', '**/dist/**', '**/data/**'];

/**
 * Tests of whole processes that judge how long something takes: one at a time. Of the others three run at
 * once: they wait for starts, stops and locks a good part of their time.
 */
const TIMED = ['tests/faults/crash/limits.timed.test.ts', 'tests/faults/crash/{away,hostile}/*.sys.test.ts'];

/**
 * Whole processes, but not the attacks on counting: the main job with 200,000 events, building, starting,
 * roles apart, the load tester, and the promises of billing and delivery. Minutes of both cores:
 * `npm run test:whole`, which `npm test` leaves to it.
 */
const WHOLE = [
  'app/main-job.whole.test.ts',
  'tools/build.whole.test.ts',
  'infra/{start,start-left-alone,roles}.sys.test.ts',
  'bench/load-tester/*.sys.test.ts',
  'tests/faults/crash/{changes,settlement}/*.sys.test.ts',
  'tests/tenancy/tenancy.whole.test.ts',
  'delivery/webhooks.whole.test.ts',
];
/** Of these, what judges how long something takes. */
const WHOLE_TIMED = [
  'tests/faults/crash/{fanout,webhooks}/*.sys.test.ts',
  'app/admin/admin-time.whole-timed.test.ts',
];

/** Tests on a broker and a key store, which take longer to start than most tests take. */
const SHARED = [
  'tests/servers/servers.distributed-store.test.ts',
  'infra/kafka/**/*.store.test.ts',
  'infra/valkey/**/*.store.test.ts',
  '**/*distributed*.store.test.ts',
  '**/*distributed*.sys.test.ts',
];
/** Servers for the tests of a run; but Postgres, each is started when the first test asks for it. */
const POSTGRES = 'tests/support/test-server.ts';
const SERVERS = [POSTGRES, 'tests/servers/shared-servers.ts'];

function isOfStores(pattern: string): boolean {
  return pattern.endsWith('.store.test.ts');
}

/** What this machine lacks something for is left out, loudly here, and named at the end of `npm test`. */
const NOT_RUN_HERE = testsNotRunHere().map(({ pattern, why }) => {
  process.stderr.write(`!!! not run on this machine: ${why}\n`);
  return pattern;
});

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
      exclude: [...NOWHERE, ...exclude, ...NOT_RUN_HERE],
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

function stores(name: string, { include, exclude, groupOrder, isolate, globalSetup }: StoreTests) {
  return {
    plugins: brokenModules(),
    test: {
      name,
      include,
      exclude: [...NOWHERE, ...exclude, ...NOT_RUN_HERE],
      pool: 'forks' as const,
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

/** Longest first: begun last, a file of a minute would be a minute in which the other workers wait. */
const LONG = [
  'engine/fast-engine.test.ts',
  'http/uws-front.test.ts',
  'delivery/send/signatures.test.ts',
  'clickhouse/clickhouse-http.store.test.ts',
  'postgres/slow-start.store.test.ts',
  'postgres/embedded.store.test.ts',
  'audit/audit.store.test.ts',
  'clickhouse/chdb.store.test.ts',
  'entitlements/metered-memory.store.test.ts',
  'upgrade/view-change.store.test.ts',
  'aggregator/load/load.store.test.ts',
  'aggregator/load/load-faults.store.test.ts',
  'torture/kills.sys.test.ts',
  'app/main-job.whole.test.ts',
  'distributed/distributed.sys.test.ts',
  'upgrade/refused-data.sys.test.ts',
  'tests/tenancy/tenancy.whole.test.ts',
  'upgrade/upgrade.sys.test.ts',
  'power/power-cut.sys.test.ts',
  'settlement/settlement.sys.test.ts',
  'retention/retention.sys.test.ts',
  'power/disk.sys.test.ts',
  'changes/changes.sys.test.ts',
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

/** All that is no unit. */
const OTHER_KINDS = ['**/*.store.test.ts', '**/*.sys.test.ts', '**/*.proof.test.ts'];

/** A test's kind is in its file's name. */
export default defineConfig({
  test: {
    reporters: ['default'],
    // Kinds share most modules: without it each would have them compiled anew. Kept by content and by the
    // names of plugins, so that a break (break-plugin.ts) has modules of its own.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest-modules' },
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: brokenModules(),
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...NOWHERE, ...OTHER_KINDS, ...WHOLE, ...NOT_RUN_HERE],
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
      stores('store', {
        include: ['**/*.store.test.ts'],
        exclude: SHARED,
        // Modules take longer to load than many of these files to run.
        isolate: false,
        globalSetup: POSTGRES,
        groupOrder: 0,
      }),
      processes('sys', {
        include: ['**/*.sys.test.ts'],
        exclude: [...TIMED, ...SHARED, ...WHOLE, ...WHOLE_TIMED],
        maxWorkers: WORKERS,
        groupOrder: 2,
      }),
      processes('timed', { include: TIMED, exclude: [], maxWorkers: 1, groupOrder: 3 }),
      processes('whole', { include: WHOLE, exclude: [], maxWorkers: WORKERS, groupOrder: 4 }),
      processes('whole-timed', { include: WHOLE_TIMED, exclude: [], maxWorkers: 1, groupOrder: 5 }),
      // What processes share past one machine: `npm run test:shared`, which `npm test` leaves to it.
      stores('shared-store', {
        include: SHARED.filter(isOfStores),
        exclude: [],
        isolate: true,
        globalSetup: SERVERS,
        groupOrder: 6,
      }),
      processes('shared-sys', {
        include: SHARED.filter((pattern) => !isOfStores(pattern)),
        exclude: [],
        maxWorkers: 1,
        groupOrder: 7,
      }),
      {
        // Proofs that tests can fail: `npm run breaks`, which `npm test` leaves to it.
        test: {
          name: 'proofs',
          include: ['**/*.proof.test.ts'],
          exclude: NOWHERE,
          pool: 'forks',
          globalSetup: SERVERS,
          sequence: { groupOrder: 8 },
        },
      },
    ],
  },
});
