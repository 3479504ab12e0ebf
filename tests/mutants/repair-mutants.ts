import type { Mutant } from './mutant.ts';

const RETENTION_TEST = 'aggregator/audit/audit-retention.whole-store.test.ts';
const AUDIT_TEST = 'aggregator/audit/audit.store.test.ts';

/** What puts data right, and takes for wrong what is not. */
export const REPAIR_MUTANTS: readonly Mutant[] = [
  {
    name: 'lost-events-taken-from-the-count',
    promises: [4],
    why: 'the log does not go back so far: sums made of what is left are the end of the last right copy',
    module: 'aggregator/audit/compare-places',
    find: 'if (keyOf(key).hour * 1_000 >= wholeFromMs) return false;',
    replace: 'if (Number.isFinite(wholeFromMs)) return false;',
    provedBy: [
      {
        test: RETENTION_TEST,
        title: 'is still counted where a repair finds it lost, and what the log has is put back',
      },
    ],
  },
  {
    name: 'repaired-once-of-many',
    promises: [4],
    why: 'one comparison gives ten thousand hours: the others stay wrong, and nobody asks again',
    module: 'aggregator/audit/auditor',
    find: 'left.wrong.all > 0 && left.wrong.all < before',
    replace: 'before === Number.POSITIVE_INFINITY',
    provedBy: [{ test: AUDIT_TEST, title: 'of more than one comparison gives puts all of it right' }],
  },
  {
    name: 'repaired-on-top-of-the-sums',
    promises: [4],
    why: 'what is put back is added to sums that have it: half done, the hour looks as if it had lost events',
    module: 'aggregator/audit/repair-hours',
    find: 'await deleteHours(deps.warehouse, keys); leftMs(); if (!deps.isDistributed)',
    replace: 'if (!deps.isDistributed)',
    provedBy: [
      {
        test: RETENTION_TEST,
        title: 'a repair that fails between two inserts and is tried again puts all of it back',
      },
    ],
  },
  {
    name: 'log-held-once-it-was-compared',
    promises: [1, 4],
    why: 'what the comparison found on the log is given up before it is put back, and nobody misses it',
    module: 'aggregator/audit/auditor',
    find: 'whileLogIsHeld(deps, paused, run.id, () => comparePlaces(deps, hold));',
    replace: 'comparePlaces(deps, hold); await whileLogIsHeld(deps, paused, run.id, async () => undefined);',
    provedBy: [{ test: RETENTION_TEST, title: 'gives up nothing of the log that a repair has looked at' }],
  },
  {
    name: 'repair-known-by-its-bytes',
    promises: [1, 4],
    why: 'a repair that is tried again puts back what it deleted under a known token: nothing is stored',
    module: 'aggregator/audit/repair-hours',
    find: 'randomUUID()',
    replace: 'bytes.length',
    provedBy: [
      {
        test: RETENTION_TEST,
        title: 'a repair that fails between two inserts and is tried again puts all of it back',
      },
    ],
  },
  {
    name: 'other-logs-not-thought-of',
    promises: [1, 4],
    why: 'what came by a log before this one is expected on it: a repair deletes it all',
    module: 'aggregator/audit/log-span',
    find: 'const afterMs = othersMs === undefined ? 0 : othersMs + CLOCKS_MS;',
    replace: 'const afterMs = othersMs === undefined ? 0 : 0;',
    provedBy: [{ test: RETENTION_TEST, title: 'is left alone where it came by another log' }],
  },
  {
    name: 'damage-looked-for-once',
    promises: [10],
    why: 'a disk that stays full for a minute: the repair gave up, and the hours are short until a restart',
    module: 'aggregator/audit/repair-damage',
    find: 'while (!closing) await',
    replace: 'if (!closing) await',
    provedBy: [
      {
        test: 'aggregator/audit/repair-damage.store.test.ts',
        title: 'a repair of damaged parts is requested until it is done, and again only by the next start',
      },
    ],
  },
  {
    name: 'strong-read-in-a-repair',
    promises: [6, 10],
    why: 'an hour is rebuilt in two steps, and a strong read between them returns too little',
    module: 'control-plane/usage/consistency',
    find: 'if (isOpen) throw notNow(REPAIRED);',
    replace: '',
    provedBy: [
      {
        test: 'control-plane/usage/counter.store.test.ts',
        title: "rejects strong reads while a repair is open: (true, 'running', NULL)",
      },
    ],
  },
  {
    name: 'repair-under-a-read-missed',
    promises: [6, 10],
    why: 'a read that waits for its turn meets an hour between the two steps of its rebuild',
    module: 'control-plane/usage/consistency',
    find: 'if ((await endedRepairs(freshness, time)) !== before) throw notNow(REPAIRED);',
    replace: '',
    provedBy: [
      {
        test: 'control-plane/usage/freshness.test.ts',
        title: 'rejects a strong read where a repair begins and ends under the read',
      },
    ],
  },
  {
    name: 'damage-check-unreported',
    promises: [10],
    why: 'nothing reports the known damage: no strong read responds',
    module: 'aggregator/audit/repair-damage',
    find: 'onLook();',
    replace: '',
    provedBy: [
      {
        test: 'aggregator/audit/repair-damage.store.test.ts',
        title: 'a repair of damaged parts is requested until it is done, and again only by the next start',
      },
    ],
  },
  {
    name: 'inserted-over-damage',
    promises: [6],
    why: 'a power cut takes a token with the part next to it: hours have the block twice, until settled',
    module: 'infra/clickhouse/warehouse-over',
    find: 'if (!eventsMayBeGone) await insert(over, block);',
    replace: 'await insert(over, block);',
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'is in no hour twice when its token went with a damaged part',
      },
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'is in no hour twice when all of it went with a damaged part, and its token',
      },
    ],
  },
  {
    name: 'hours-made-of-what-is-left',
    promises: [6, 10],
    why: 'an hour that is older than the log loses what went with a part as soon as a block is sent again',
    module: 'infra/clickhouse/repair-block',
    find: "eventsMayBeGone ? LACKS_EVENTS : 'true'",
    replace: "'true'",
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'leaves hours to the audit, which repairs them when events went with a damaged part',
      },
    ],
  },
  {
    name: 'settled-before-it-is-whole',
    promises: [4, 6],
    why: 'hours may have a range twice while it is sent again, and what is settled is settled for good',
    module: 'aggregator/load/load-loop',
    find: `const resumed = await state.resume(() => resumeAll(deps, lease));
  const settler = startSettler(deps, lease);`,
    replace: `const settler = startSettler(deps, lease);
  const resumed = await state.resume(() => resumeAll(deps, lease));`,
    provedBy: [
      {
        test: 'aggregator/load/load-faults.store.test.ts',
        title: 'settles nothing before what is sent again is repaired',
      },
    ],
  },
  {
    name: 'unsure-tail-believed',
    promises: [1, 6],
    why: 'a write that failed left its frame in memory alone, and a start takes that for the disk',
    module: 'infra/segment-log/open-tail',
    find: 'if (unsure.length > 0) await',
    replace: 'if (unsure.length < 0) await',
    provedBy: [
      {
        test: 'infra/segment-log/open-tail.test.ts',
        title: 'writes the unconfirmed frame once more, and nothing else',
      },
    ],
  },
];
