import type { Mutant } from './mutant.ts';

const EXPORT_TEST = 'aggregator/key-export/key-export.whole-store.test.ts';

/** What may be given up, and what has to be put together again from the rest. */
export const RETENTION_MUTANTS: readonly Mutant[] = [
  {
    name: 'log-trimmed-beyond-the-keys',
    promises: [2],
    why: 'the log goes before its keys are in their file: after a kill they are forgotten and counted again',
    module: 'ingest/embedded/trim-log',
    find: 'const before = Math.min(old, keys.coveredUpTo());',
    replace: 'const before = old;',
    provedBy: [
      { test: 'ingest/embedded/trim-log.test.ts', title: 'as far as the record file covers it' },
      {
        test: 'tests/faults/crash-consistency/power-cut.sys.test.ts',
        title: 'opens with all that it announced, once, after a power cut at any time',
      },
    ],
  },
  {
    name: 'log-trimmed-before-it-is-settled',
    promises: [1],
    why: 'what is acknowledged and not loaded goes with its segment',
    module: 'ingest/store/raise-kept-from',
    find: 'least($2::bigint, settled.position)',
    replace: '$2::bigint',
    provedBy: [
      {
        test: 'ingest/store/raise-kept-from.store.test.ts',
        title: 'where it is settled without a gap, and from no position beyond the requested one',
      },
    ],
  },
  {
    name: 'written-segment-trimmed',
    promises: [1],
    why: 'the next frame is acknowledged and written to a file that has no name any more',
    module: 'infra/segment-log/retention',
    find: '.filter((base) => base <= current().base)',
    replace: '',
    provedBy: [
      {
        test: 'infra/segment-log/retention.test.ts',
        title: 'that is written stays, also while the next one is being made and finds no room',
      },
    ],
  },
  {
    name: 'keys-of-what-is-left-of-the-log',
    promises: [2],
    why: 'a start without keys takes those of the trimmed log for all: older replays are counted again',
    module: 'infra/key-table/open-key-table',
    find: 'if (known.logPosition >= start) return known.logPosition;',
    replace: 'return Math.max(known.logPosition, start);',
    provedBy: [
      {
        test: 'infra/key-table/earlier-keys.test.ts',
        title: 'come from elsewhere when the files are gone, and those behind from the log',
      },
    ],
  },
  {
    name: 'keys-rebuilt-without-the-warehouse',
    promises: [2],
    why: 'replays of what the log gave up are counted again',
    module: 'aggregator/key-export/export-keys',
    find: 'yield* storedRecords(warehouse);',
    replace: '',
    provedBy: [
      {
        test: EXPORT_TEST,
        title: 'has a record of every event on the log, as the log has it, of rejected ones too',
      },
    ],
  },
  {
    name: 'keys-rebuilt-without-the-quarantine',
    promises: [2],
    why: 'a replay of a line that ClickHouse rejected, and that was acknowledged, is another event',
    module: 'aggregator/key-export/export-keys',
    find: 'yield* refusedRecords(pool);',
    replace: '',
    provedBy: [
      {
        test: EXPORT_TEST,
        title: 'has a record of every event on the log, as the log has it, of rejected ones too',
      },
    ],
  },
  {
    name: 'keys-of-a-lost-warehouse-believed',
    promises: [2],
    why: 'a warehouse that was restored from an old copy gives some of the keys, and they are taken for all',
    module: 'schemas/stored/key-export',
    find: 'return recordCount < countMin;',
    replace: 'return false;',
    provedBy: [
      {
        test: EXPORT_TEST,
        title: 'detects a warehouse that lost what the log deleted, however many newer events it holds',
      },
      {
        test: 'ingest/embedded/earlier-keys.test.ts',
        title: 'a stream of a warehouse that lost events is keys_incomplete',
      },
    ],
  },
  {
    name: 'log-not-held-for-a-repair',
    promises: [1],
    why: 'a repair that is cut off has deleted events, and the segments that still have them go',
    module: 'aggregator/audit/auditor',
    find: 'if (await holdLog(pool, partition.lease, runId)) fresh.push(partition);',
    replace: 'void [holdLog, runId, partition];',
    provedBy: [
      {
        test: 'aggregator/audit/audit-retention.whole-store.test.ts',
        title: 'holds the log until every event of it was found',
      },
    ],
  },
];
