import { mutant } from './mutant-row.ts';

const RETENTION = 'aggregator/audit/audit-retention.whole-store.test.ts';
const AUDIT = 'aggregator/audit/audit.whole-store.test.ts';
const DAMAGE = 'aggregator/audit/repair-damage.store.test.ts';
const COUNTER = 'control-plane/usage/counter.store.test.ts';
const FRESHNESS = 'control-plane/usage/freshness.test.ts';
const CHDB = 'infra/clickhouse/embedded/chdb.store.test.ts';
const LOAD_FAULTS = 'aggregator/load/load-faults.store.test.ts';
const OPEN_TAIL = 'infra/segment-log/open-tail.test.ts';

/** What puts data right, and takes for wrong what is not. */
export const REPAIR_MUTANTS = [
  mutant('lost-events-taken-from-the-count', [4])
    .why('the log does not go back so far: sums made of what is left are the end of the last right copy')
    .is('aggregator/audit/compare-places', 'if (Number.isFinite(wholeFromMs)) return false;')
    .red(RETENTION, 'is still counted where a repair finds it lost, and what the log has is put back'),
  mutant('repaired-once-of-many', [4])
    .why('one comparison gives ten thousand hours: the others stay wrong, and nobody asks again')
    .swap(
      'aggregator/audit/auditor',
      'left.wrong.all > 0 && left.wrong.all < before',
      'before === Number.POSITIVE_INFINITY',
    )
    .red(AUDIT, 'of more than one comparison gives puts all of it right'),
  mutant('repaired-on-top-of-the-sums', [4])
    .why('what is put back is added to sums that have it: half done, the hour looks as if it had lost events')
    .drop('aggregator/audit/repair-hours')
    .red(RETENTION, 'a repair that fails between two inserts and is tried again puts all of it back'),
  mutant('log-held-once-it-was-compared', [1, 4])
    .why('what the comparison found on the log is given up before it is put back, and nobody misses it')
    .is(
      'aggregator/audit/auditor',
      'let left = await comparePlaces(deps, hold); ' +
        'await whileLogIsHeld(deps, paused, run.id, async () => undefined);',
    )
    .red(RETENTION, 'gives up nothing of the log that a repair has looked at'),
  mutant('repair-known-by-its-bytes', [1, 4])
    .why('a repair that is tried again puts back what it deleted under a known token: nothing is stored')
    .swap('aggregator/audit/repair-hours', 'randomUUID()', 'batch.lines.length')
    .red(RETENTION, 'a repair that fails between two inserts and is tried again puts all of it back'),
  mutant('other-logs-not-thought-of', [1, 4])
    .why('what came by a log before this one is expected on it: a repair deletes it all')
    .is('aggregator/audit/log-span', 'const afterMs = 0;')
    .red(RETENTION, 'is left alone where it came by another log'),
  mutant('damage-looked-for-once', [10])
    .why('a disk that stays full for a minute: the repair gave up, and the hours are short until a restart')
    .swap('aggregator/audit/repair-damage', 'while', 'if')
    .red(DAMAGE, 'a repair of damaged parts is requested until it is done, and again only by the next start'),
  mutant('strong-read-in-a-repair', [6, 10])
    .why('an hour is rebuilt in two steps, and a strong read between them returns too little')
    .drop('control-plane/usage/consistency')
    .red(COUNTER, "rejects strong reads while a repair is open: (true, 'running', NULL)"),
  mutant('repair-under-a-read-missed', [6, 10])
    .why('a read that waits for its turn meets an hour between the two steps of its rebuild')
    .drop('control-plane/usage/consistency')
    .red(FRESHNESS, 'rejects a strong read where a repair begins and ends under the read'),
  mutant('damage-check-unreported', [10])
    .why('nothing reports the known damage: no strong read responds')
    .drop('aggregator/audit/repair-damage')
    .red(DAMAGE, 'a repair of damaged parts is requested until it is done, and again only by the next start'),
  mutant('inserted-over-damage', [6])
    .why('a power cut takes a token with the part next to it: hours have the block twice, until settled')
    .always('infra/clickhouse/warehouse-over')
    .red(CHDB, 'is in no hour twice when its token was lost with a damaged part')
    .red(CHDB, 'is in no hour twice when all of it was lost with a damaged part, and its token'),
  mutant('hours-made-of-what-is-left', [6, 10])
    .why('an hour that is older than the log loses what went with a part as soon as a block is sent again')
    .swap('infra/clickhouse/repair-block', 'LACKS_EVENTS', "'true'")
    .red(CHDB, 'leaves hours to the audit, which repairs them when events were lost with a damaged part'),
  mutant('settled-before-it-is-whole', [4, 6])
    .why('hours may have a range twice while it is sent again, and what is settled is settled for good')
    .later('aggregator/load/load-loop')
    .red(LOAD_FAULTS, 'settles nothing before what is sent again is repaired'),
  mutant('unsure-tail-believed', [1, 6])
    .why('a write that failed left its frame in memory alone, and a start takes that for the disk')
    .drop('infra/segment-log/open-tail')
    .red(OPEN_TAIL, 'writes the unconfirmed frame once more, and nothing else'),
];
