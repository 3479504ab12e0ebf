import type { Mutant } from './mutant.ts';

const LOAD_TEST = 'aggregator/load/load.store.test.ts';
const SETTLE_TEST = 'aggregator/settle/settle.store.test.ts';
const USAGE_TEST = 'aggregator/settle/settle-usage.store.test.ts';
const BEFORE_INSERT = 'before the insert is followed by one that counts every event once';
const BEFORE_MARK = 'after the insert, before the mark is followed by one that counts every event once';
const HALF_INSERT =
  'in the middle of the insert, with the events stored and the hours not is followed by one that counts ' +
  'every event once';

const LOST_PART =
  'in the middle of the insert, with its token noted and its part gone is followed by one that counts ' +
  'every event once';

const FREEZE = 'if (!(await freezeRange(deps.pool, range))) throw fenced();';
const INSERT = 'await insertRange(deps, { lease, range, wasSent: false }, block);';
const FINISH = 'await finishRange(deps, range);';

/** Between the log and the counters. */
export const AGGREGATOR_MUTANTS: readonly Mutant[] = [
  {
    name: 'loaded-before-insert',
    promises: [4],
    why: 'a kill between mark and insert omits a range permanently',
    module: 'aggregator/load/load-range',
    find: `${FREEZE} ${INSERT} ${FINISH}`,
    replace: `${FREEZE} ${FINISH} ${INSERT}`,
    provedBy: [{ test: LOAD_TEST, title: BEFORE_INSERT }],
    shownBy: { promise: 4, rounds: 12 },
  },
  {
    name: 'range-not-frozen',
    promises: [4],
    why: 'after a kill the stored events come again within another range, under another token',
    module: 'aggregator/load/load-range',
    find: `${FREEZE} ${INSERT} ${FINISH}`,
    replace: `${INSERT} ${FREEZE} ${FINISH}`,
    provedBy: [{ test: LOAD_TEST, title: BEFORE_MARK }],
  },
  {
    name: 'filter-on-retry',
    promises: [4],
    why: 'what the events hold already is left out of the retry, and the hours never get it',
    module: 'aggregator/load/load-range',
    find: 'const block = await readBlock(deps.reader, range.partition, range);',
    replace: `
      const block = await readBlock(deps.reader, range.partition, range);
      const sql = 'SELECT id FROM metergate.events';
      const stored = await deps.warehouse.query({ sql, lane: 'load', timeoutMs: 20_000 });
      const known = new Set(stored.map(({ id }) => id));
      const isKnown = (line) => known.has(JSON.parse(line.toString())[3]);
      const dropped = splitLines(linesWithout(block, [])).flatMap((line, at) => isKnown(line) ? [at] : []);
      range = { ...range, dropped };`,
    provedBy: [{ test: LOAD_TEST, title: HALF_INSERT }],
  },
  {
    name: 'resumed-range-believed',
    promises: [4],
    why: 'ClickHouse notes a token before its part is in place: after a kill the part may be lost',
    module: 'aggregator/load/load-range',
    find: 'wasSent: true',
    replace: 'wasSent: false',
    provedBy: [{ test: LOAD_TEST, title: LOST_PART }],
  },
  {
    name: 'lost-events-not-put-back',
    promises: [4],
    why: 'the rows of a part whose token outlived it are counted in the hours and nowhere else',
    module: 'infra/clickhouse/repair-block',
    find: 'await putBackEvents(transport, tables);',
    replace: '',
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'that left all but a month of the events behind is whole when it is sent again',
      },
    ],
  },
  {
    name: 'lost-hours-not-renewed',
    promises: [4],
    why: 'the hours of a part whose token outlived it never get its events',
    module: 'infra/clickhouse/repair-block',
    find: 'await renewHours(',
    replace: 'void (',
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'that left all but a month of the hours behind is whole when it is sent again',
      },
    ],
  },
  {
    name: 'new-token-for-a-retry',
    promises: [4, 5],
    why: 'ClickHouse takes a repeated insert for another one',
    module: 'aggregator/load/load-range',
    find: 'token: tokenOf(range) + name,',
    replace: 'token: tokenOf(range) + Math.random(),',
    provedBy: [{ test: LOAD_TEST, title: BEFORE_MARK }],
    shownBy: { promise: 5, rounds: 2 },
  },
  {
    name: 'view-without-its-window',
    promises: [4, 5],
    why: 'a repeated insert is left out of the events and added to the hours: 1 and 2',
    module: 'infra/clickhouse/migrate-warehouse',
    find: 'text.split(END_OF_STATEMENT)',
    replace:
      String.raw`text.replace(/(usage_hourly\n[\s\S]*?)non_replicated_deduplication_window = \d+, /, '$1')` +
      '.split(END_OF_STATEMENT)',
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'is counted once per token, in the events and in the hours',
      },
    ],
  },
  {
    name: 'settlement-outside-its-transaction',
    promises: [4],
    why: 'a kill in between leaves a range settled without what had to follow from it',
    module: 'aggregator/settle/settle-batch',
    find: 'if (isLast) await markDone(client, ranges, marks);',
    replace: 'if (isLast) await markDone(pool, ranges, marks);',
    provedBy: [
      {
        test: SETTLE_TEST,
        title: 'that is not committed leaves the range loaded and nothing burned, to be settled again',
      },
    ],
  },
  {
    name: 'touched-without-its-times',
    promises: [21],
    why: 'late events burn nothing and cross nothing: their period is not looked at',
    module: 'aggregator/settle/touched-customer-meters',
    find: 'if (watched.has(pair)) mergePair(merged, pair);',
    replace: `if (watched.has(pair)) {
      const now = Date.now();
      mergePair(merged, { ...pair, occurredFromMs: now, occurredToMs: now });
    }`,
    provedBy: [
      {
        test: USAGE_TEST,
        title: 'burns credits to the last decimal, whenever it occurred and at the rate of that time',
      },
    ],
    shownBy: { promise: 21, rounds: 3 },
  },
  {
    name: 'threshold-without-its-unique-row',
    promises: [21],
    why: 'a retry after a crash, or a minute later, notifies the same crossing again',
    module: 'aggregator/settle/settle-customer-meters',
    find: 'const fresh = await insertCrossings(db, reached, new Date(nowMs));',
    replace: 'const fresh = reached;',
    provedBy: [{ test: SETTLE_TEST, title: 'is emitted once in each period, with what was used' }],
    shownBy: { promise: 21, rounds: 3 },
  },
  {
    name: 'latest-by-id',
    promises: [4],
    why: 'of gauges that came in one millisecond any wins, and another one after a repair',
    module: 'schemas/stored/usage-hourly',
    find: 'concat(unique_value, id)',
    replace: 'id',
    provedBy: [
      {
        test: 'infra/clickhouse/chdb.store.test.ts',
        title: 'takes the last that arrived in a millisecond, also before id use_a',
      },
    ],
  },
  {
    name: 'settled-by-any-epoch',
    promises: [4],
    why: 'a process that lost the partition settles what another one holds',
    module: 'aggregator/store/ranges',
    find: "AND lo = $3 AND epoch = $4 AND state = 'loaded'",
    replace: "AND lo = $3 AND $4 > 0 AND state = 'loaded'",
    provedBy: [
      { test: 'aggregator/store/ranges.store.test.ts', title: 'can be marked by the new epoch only' },
    ],
  },
];
