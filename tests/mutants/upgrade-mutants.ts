import type { Mutant } from './mutant.ts';

const UPGRADE_TEST = 'tests/faults/upgrade/upgrade.whole.test.ts';
const REJECTION_TEST = 'tests/faults/upgrade/rejected-data.sys.test.ts';
const VIEW_TEST = 'tests/faults/upgrade/view-change.whole-store.test.ts';
const PAUSE_TEST = 'aggregator/load/pause-load.store.test.ts';
/** A process that should reject the data, and does not, is waited for in vain. */
const TAKEN = {
  test: REJECTION_TEST,
  stopsWith: /for the end of dist\/app\/(roles\/ingest|control-side)\.js/,
};
const OTHER_LOG = { ...TAKEN, title: 'a record file of another log' };

/** A release that finds the data of another, and data that nobody should go on with. */
export const UPGRADE_MUTANTS: readonly Mutant[] = [
  {
    name: 'view-changed-while-pending',
    promises: [19],
    why: 'a block that the old view counted is sent again to hours that never saw its token',
    module: 'aggregator/load/pause-load',
    find: 'of await takeOverRanges(deps.pool, lease, lease.epoch)',
    replace: 'of []',
    provedBy: [
      {
        test: UPGRADE_TEST,
        title: 'a folder of the main job, killed in the middle, is exact under a release with another view',
      },
      {
        test: PAUSE_TEST,
        title: 'a view is changed once what a crash left pending is loaded, and the load goes on',
      },
    ],
  },
  {
    name: 'view-changed-with-a-rival',
    promises: [19],
    why: 'another process loads while there is no view: its events are in no hour',
    module: 'aggregator/load/pause-load',
    find: 'if (!lease) throw new',
    replace: 'if (!lease) await work(); if (!lease) throw new',
    provedBy: [{ test: PAUSE_TEST, title: 'a view is not changed while another process loads' }],
  },
  {
    name: 'migration-noted-at-its-end-only',
    promises: [19],
    why: 'what a crash left half done is taken by the former release for its own: it counts without a view',
    module: 'infra/clickhouse/migrate-warehouse',
    find: "await note(transport, number, 'begun');",
    replace: '',
    provedBy: [
      {
        test: VIEW_TEST,
        title: 'that was cut off is rejected by the former release and done again by its own',
      },
    ],
  },
  {
    name: 'rival-migration-not-looked-for',
    promises: [19],
    why: 'of two processes that upgrade at once the later drops what the earlier has made and loaded',
    module: 'infra/clickhouse/migrate-warehouse',
    find: 'if ((await appliedNumbers(transport)).has(number)) return;',
    replace: '',
    provedBy: [{ test: VIEW_TEST, title: 'that a rival applied while this one waited is not applied again' }],
  },
  {
    name: 'view-changed-without-a-pause',
    promises: [19],
    why: 'the hours change under a load that is running: what it sends again is counted twice',
    module: 'infra/clickhouse/migrate-warehouse',
    find: 'if (migration.needsStandstill) await',
    replace: 'if (false) await',
    provedBy: [
      {
        test: VIEW_TEST,
        title: 'that changes a view waits until the load is paused, and no other does',
      },
    ],
  },
  {
    name: 'record-file-unchecked',
    promises: [2, 19],
    why: 'keys of another installation, log or release are taken for ours: repeats are counted again',
    module: 'infra/key-table/open-key-table',
    find: 'await checkRecordFile(records, owner, latest.recordCount);',
    replace: '',
    provedBy: [OTHER_LOG, { ...TAKEN, title: 'a record file of a newer release' }],
  },
  {
    name: 'log-id-unchecked',
    promises: [2],
    why: 'keys of a log that was put back from elsewhere: what it holds and they do not is counted twice',
    module: 'infra/key-table/record-file',
    find: 'if (!header.subarray(24, 40).equals(owner.logId))',
    replace: 'if (false)',
    provedBy: [OTHER_LOG],
  },
  {
    name: 'rejection-started-again',
    promises: [19],
    why: 'npm start tries what cannot help, and buries the one sentence that says what to do',
    module: 'infra/platform/exit-code',
    find: 'return DATA_REJECTED.has(error.code) ? EXIT.dataRefused : EXIT.failed;',
    replace: 'return EXIT.failed;',
    provedBy: [
      {
        test: REJECTION_TEST,
        title: 'ends with 4 and says once what is wrong, whichever of its two processes rejects the data',
      },
    ],
  },
  {
    name: 'secret-unchecked',
    promises: [17, 19],
    why: 'under the secret of another installation every API key is unknown, and nobody knows why',
    module: 'app/prepare-installation',
    find: 'await checkServerSecret(pool, secret, paths.root);',
    replace: '',
    provedBy: [{ ...TAKEN, title: 'the secret of another installation' }],
  },
  {
    name: 'database-unjudged',
    promises: [19],
    why: 'where the database of a log is lost another one is created: all of the log is counted again',
    module: 'app/roles/relational',
    find: "await retryUntilAvailable('Postgres', () => judge(pool), log);",
    replace: '',
    provedBy: [{ ...TAKEN, title: 'an empty database with a log' }],
  },
];
