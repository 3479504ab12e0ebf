import { mutant } from './mutant-row.ts';

const UPGRADE = 'tests/faults/upgrade/upgrade.whole.test.ts';
const PAUSE_LOAD = 'aggregator/load/pause-load.store.test.ts';
const VIEW_CHANGE = 'tests/faults/upgrade/view-change.whole-store.test.ts';
const REJECTS = 'tests/faults/upgrade/rejected-data.sys.test.ts';

/** A process that should reject the data, and does not, is waited for in vain. */
const TAKEN = /for the end of dist\/app\/(roles\/ingest|control-side)\.js/;

/** A release that finds the data of another, and data that nobody should go on with. */
export const UPGRADE_MUTANTS = [
  mutant('view-changed-while-pending', [19])
    .why('a block that the old view counted is sent again to hours that never saw its token')
    .drop('aggregator/load/pause-load')
    .red(
      UPGRADE,
      'a folder of the main job, killed in the middle, is exact under a release with another view',
    )
    .red(PAUSE_LOAD, 'a view is changed once what a crash left pending is loaded, and the load continues'),
  mutant('view-changed-with-a-rival', [19])
    .why('another process loads while there is no view: its events are in no hour')
    .is(
      'aggregator/load/pause-load',
      'await hold(deps, { logId, partition }, owner).then((lease) => leases.push(lease), () => 0);',
    )
    .red(PAUSE_LOAD, 'a view is not changed while another process loads'),
  mutant('migration-noted-at-its-end-only', [19])
    .why('what a crash left half done is taken by the former release for its own: it counts without a view')
    .drop('infra/clickhouse/migrate-warehouse')
    .red(VIEW_CHANGE, 'that was cut off is rejected by the former release and done again by its own'),
  mutant('rival-migration-not-looked-for', [19])
    .why('of two processes that upgrade at once the later drops what the earlier has made and loaded')
    .drop('infra/clickhouse/migrate-warehouse')
    .red(VIEW_CHANGE, 'that a rival applied while this one waited is not applied again'),
  mutant('view-changed-without-a-pause', [19])
    .why('the hours change under a load that is running: what it sends again is counted twice')
    .never('infra/clickhouse/migrate-warehouse')
    .red(VIEW_CHANGE, 'that changes a view waits until the load is paused, and no other does'),
  mutant('record-file-unchecked', [2, 19])
    .why('keys of another installation, log or release are taken for ours: repeats are counted again')
    .drop('infra/key-table/sealed-file')
    .red(REJECTS, 'a file of keys of another log', TAKEN)
    .red(REJECTS, 'a file of keys of a newer release', TAKEN),
  mutant('log-id-unchecked', [2])
    .why('keys of a log that was put back from elsewhere: what it holds and they do not is counted twice')
    .drop('infra/key-table/key-files')
    .red(REJECTS, 'a file of keys of another log', TAKEN),
  mutant('rejection-started-again', [19])
    .why('npm start tries what cannot help, and buries the one sentence that says what to do')
    .never('infra/platform/exit-code')
    .red(REJECTS, 'ends with 4 and says once what is wrong, whichever of its two processes rejects the data'),
  mutant('secret-unchecked', [17, 19])
    .why('under the secret of another installation every API key is unknown, and nobody knows why')
    .drop('app/prepare-installation')
    .red(REJECTS, 'the secret of another installation', TAKEN),
  mutant('database-unjudged', [19])
    .why('where the database of a log is lost another one is created: all of the log is counted again')
    .drop('app/roles/relational')
    .red(REJECTS, 'an empty database with a log', TAKEN),
];
