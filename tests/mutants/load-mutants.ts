import { mutant } from './mutant-row.ts';

const LOAD = 'aggregator/load/load.store.test.ts';
const ROW_FILES = 'infra/clickhouse/embedded/row-files.store.test.ts';
const COLUMNS = 'infra/clickhouse/columns/columns.test.ts';
const WITH_COLUMNS = 'infra/clickhouse/columns/with-columns.test.ts';
const ROLLUPS = 'infra/clickhouse/columns/rollups.test.ts';
const SAME_AS_LINES = 'infra/clickhouse/columns/same-as-lines.store.test.ts';
const GUARD = 'infra/clickhouse/rollups/property-guard.whole-store.test.ts';
const FILL = 'infra/clickhouse/rollups/fill-by-property.whole-store.test.ts';
const ROLLUP = 'control-plane/store/property-rollup.test.ts';
const METER_USAGE = 'control-plane/store/read-meter-usage.store.test.ts';
const COUNTED_AT_ONCE = 'a counter with more rows than are compared is merged, of its span, and then at once';
const CHDB = 'infra/clickhouse/embedded/chdb.store.test.ts';
const PAUSE = 'aggregator/load/pause-load.store.test.ts';
const SETTLE = 'aggregator/settle/settle.store.test.ts';
const SETTLE_USAGE = 'aggregator/settle/settle-usage.store.test.ts';
const RANGES = 'aggregator/store/ranges.store.test.ts';

/** Between the log and the counters. */
export const LOAD_MUTANTS = [
  mutant('loaded-before-insert', [4])
    .why('a kill between mark and insert omits a range permanently')
    .later('aggregator/load/load-range')
    .red(LOAD, 'before the insert is followed by one that counts every event once')
    .shownBy({ promise: 4, rounds: 12 }),
  mutant('range-not-frozen', [4])
    .why('after a kill the stored events come again within another range, under another token')
    .later('aggregator/load/load-range')
    .red(LOAD, 'after the insert, before the mark is followed by one that counts every event once'),
  mutant('filter-on-retry', [4])
    .why('what the events hold already is left out of the retry, and the hours never get it')
    .after(
      'aggregator/load/load-range',
      `const sql = 'SELECT id FROM metergate.events';
      const stored = await deps.warehouse.query({ sql, connection: 'load', timeoutMs: 20_000 });
      const known = new Set(stored.map(({ id }) => id));
      const { eventIdsOf } = await import('../../schemas/stored/record.ts');
      const ids = block.frames.flatMap(({ records }) => eventIdsOf(records));
      const dropped = ids.flatMap((id, at) => (known.has(id) ? [at] : []));
      range = { ...range, dropped };`,
    )
    .red(
      LOAD,
      'in the middle of the insert, with the events stored and the hours not is followed by one that ' +
        'counts every event once',
    ),
  mutant('memory-given-back-early', [1, 2])
    .why('the next block is read over the lines that are being inserted: other events are stored for them')
    .before('aggregator/load/load-loop', 'block.memory?.giveBack();')
    .red(LOAD, 'reads a block from memory that nothing else uses until it is loaded, and gives it back'),
  mutant('taken-rows-not-compared', [1, 4])
    .why('rows that ClickHouse left out without an error are counted as loaded, and never sent again')
    .never('infra/clickhouse/taken-rows')
    .red(ROW_FILES, 'rows that the engine did not take are reported'),
  mutant('columns-in-any-order', [4])
    .why('a block that is read again has other bytes in the two writers, and ClickHouse sorts it again')
    .is('infra/clickhouse/columns/plain-columns', 'const sorted = events;')
    .red(COLUMNS, 'both writers make the same bytes of lines that both read'),
  mutant('hours-before-their-events', [4])
    .why('the hourly rows are inserted and the events not: hours count what is stored nowhere, until a retry')
    .is(
      'infra/clickhouse/columns/with-columns',
      'const tables = [...(await rollupsOf(made, rollups, events)), { table, block: made.block }];',
    )
    .red(WITH_COLUMNS, 'the hours of a block are inserted behind its events, under the same token'),
  mutant('rollups-without-what-they-cannot-read', [4])
    .why('a value that the WebAssembly leaves to the plain makers is in no row: breakdowns lack it')
    .is('infra/clickhouse/columns/wasm-rollups', 'wasm.endRollups();')
    .red(ROLLUPS, 'rollups of a block with something that parts a character are left to the plain writers'),
  mutant('guard-that-truncates', [4])
    .why('rows of a property are left out, and a breakdown is made of the others')
    .drop('infra/clickhouse/rollups/property-guard')
    .red(GUARD, 'with more values than fit is closed before its rows are left out'),
  mutant('guard-that-closes-twenty', [4])
    .why(
      'of the 21st meter of a block with too many properties rows are left out, and a breakdown lacks them',
    )
    .swap(
      'infra/clickhouse/rollups/property-guard',
      'found.filter(isOverNow)',
      'found.filter(isOverNow).slice(0, 20)',
    )
    .red(GUARD, 'of a meter with very many of them closes each such meter of a block'),
  mutant('work-behind-its-pause', [4, 19])
    .why('what a pause was for is written while another process loads: hours say too much')
    .drop('aggregator/load/pause-load')
    .red(PAUSE, 'work that lost the insert lock meanwhile may not write any more'),
  mutant('early-latest-left-out', [4])
    .why('meters of `latest` read 0 where a log of an early release is loaded once more')
    .is('infra/clickhouse/insert-events', 'orderedSinceMs = 0;')
    .red(SAME_AS_LINES, 'an hour says what came last of `latest` meters, and of events of early releases'),
  mutant('filled-over-what-is-there', [4, 19])
    .why('a month whose filling was cut off has rows twice: breakdowns say too much')
    .drop('infra/clickhouse/rollups/fill-by-property')
    .red(FILL, 'what was stored before is in the rollup by property, also when it is cut off or slow'),
  mutant('cut-off-slice-kept', [4, 19])
    .why('a part of a month that took too long has rows twice: breakdowns say too much')
    .drop('infra/clickhouse/rollups/fill-slices')
    .red(FILL, 'what was stored before is in the rollup by property, also when it is cut off or slow'),
  mutant('filled-without-the-pause', [4, 19])
    .why('two processes fill one month, and breakdowns say too much')
    .drop('infra/clickhouse/migrate-warehouse')
    .red(FILL, 'nothing is filled in once the pause may have ended'),
  mutant('half-filled-rollup-read', [4, 19])
    .why('while what was stored is filled in, breakdowns lack it')
    .is('control-plane/store/property-rollup', 'isFilled = true;')
    .red(ROLLUP, 'is not read before it is filled'),
  mutant('repeats-counted', [4])
    .why('an event that stands twice counts twice in an edge hour')
    .never('control-plane/store/read-counter')
    .red(METER_USAGE, 'an event counts once in an edge hour of a counter, of two that stand twice'),
  mutant('read-twice-each-time', [4])
    .why('a counter with millions of events in an edge hour is read twice each time, and ends in 503')
    .is('control-plane/store/read-counter', 'return false;')
    .red(METER_USAGE, COUNTED_AT_ONCE),
  mutant('rows-beyond-the-compared-believed', [4])
    .why('an event that stands twice counts twice in an edge hour with more events than are compared')
    .swap('control-plane/store/read-counter', 'count() -', 'least(count(), 2) -')
    .red(METER_USAGE, COUNTED_AT_ONCE),
  mutant('repeat-looked-for-within-the-span', [4])
    .why('an event that stands twice counts in an edge hour, though the row that stands lies before the span')
    .swap('control-plane/store/read-counter', 'ofEdgeHours(at)', 'ofEdgeHours(at)} WHERE ${withinSpan(at)')
    .red(
      METER_USAGE,
      'an event counts once in an edge hour of a counter, of one that stands twice, once before the span',
    ),
  mutant('repeat-merged-within-the-span', [4])
    .why('the row that stands is filtered out before FINAL: the later one of the event counts')
    .swap('control-plane/store/read-counter', 'ofEdgeHours(at)', 'ofEdgeHours(at)} AND ${withinSpan(at)')
    .red(
      METER_USAGE,
      'an event counts once in an edge hour of a counter, of one that stands twice, once before the span',
    ),
  mutant('part-left-out-before-the-merge', [4])
    .why('of an event that stands twice the row that does not stand is shown and priced')
    .is('domain/store/aggregate-sql', 'return occurredWithin(from, to);')
    .red(METER_USAGE, 'an event is not shown that stands twice, once in a part before the span'),
  mutant('properties-not-renewed', [4])
    .why('rows by property of a part whose token outlived it are missing in breakdowns forever')
    .drop('infra/clickhouse/repair-block')
    .red(CHDB, 'that left all but a month by property behind is whole when it is sent again'),
  mutant('resumed-range-believed', [4])
    .why('ClickHouse notes a token before its part is in place: after a kill the part may be lost')
    .swap('aggregator/load/load-range', 'wasSent: true', 'wasSent: false')
    .red(
      LOAD,
      'in the middle of the insert, with its token stored and its part missing is followed by one that ' +
        'counts every event once',
    ),
  mutant('lost-events-not-put-back', [4])
    .why('the rows of a part whose token outlived it are counted in the hours and nowhere else')
    .drop('infra/clickhouse/repair-block')
    .red(CHDB, 'that left all but a month of the events behind is whole when it is sent again'),
  mutant('lost-hours-not-renewed', [4])
    .why('the hours of a part whose token outlived it never get its events')
    .drop('infra/clickhouse/repair-block')
    .red(CHDB, 'that left all but a month of the hours behind is whole when it is sent again'),
  mutant('new-token-for-a-retry', [4, 5])
    .why('ClickHouse takes a repeated insert for another one')
    .swap('aggregator/load/load-range', '+ name', '+ Math.random()')
    .red(LOAD, 'after the insert, before the mark is followed by one that counts every event once')
    .shownBy({ promise: 5, rounds: 2 }),
  mutant('view-without-its-window', [4, 5])
    .why('a repeated insert is left out of the events and added to the hours: 1 and 2')
    .swap(
      'infra/clickhouse/migrate-warehouse',
      'text.split',
      String.raw`text.replace(/(usage_hourly\n[\s\S]*?)non_replicated_deduplication_window = \d+, /, '$1')` +
        '.split',
    )
    .red(CHDB, 'is counted once per token, in the events and in the hours'),
  mutant('settlement-outside-its-transaction', [4])
    .why('a kill in between leaves a range settled without what had to follow from it')
    .swap('aggregator/settle/settle-batch', 'markDone(client', 'markDone(pool')
    .red(SETTLE, 'that is not committed leaves the range loaded and nothing burned, to be settled again'),
  mutant('touched-without-its-times', [21])
    .why('late events burn nothing and cross nothing: their period is not looked at')
    .swap(
      'aggregator/settle/touched-customer-meters',
      'mergeCustomerMeter(merged, customerMeter)',
      'mergeCustomerMeter(merged, { ...customerMeter, occurredFromMs: Date.now(), ' +
        'occurredToMs: Date.now() })',
    )
    .red(SETTLE_USAGE, 'burns credits to the last decimal, whenever it occurred and at the rate of that time')
    .shownBy({ promise: 21, rounds: 3 }),
  mutant('threshold-without-its-unique-row', [21])
    .why('a retry after a crash, or a minute later, notifies the same crossing again')
    .is('aggregator/settle/settle-customer-meters', 'const fresh = reached;')
    .red(SETTLE, 'is emitted once in each period, with what was used')
    .shownBy({ promise: 21, rounds: 3 }),
  mutant('latest-by-id', [4])
    .why('of gauges that came in one millisecond any wins, and another one after a repair')
    .swap('schemas/stored/usage-hourly', 'concat(unique_value, id)', 'id')
    .red(CHDB, 'takes the last that arrived in a millisecond, also before id use_a'),
  mutant('settled-by-any-epoch', [4])
    .why('a process that lost the partition settles what another one holds')
    .swap('aggregator/store/ranges#markSettled', 'epoch = $4', '$4 > 0')
    .red(RANGES, 'can be marked by the new epoch only'),
];
