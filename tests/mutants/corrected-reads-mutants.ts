import { mutant } from './mutant-row.ts';

const READS = 'tests/corrections/changed-reads.store.test.ts';
const AS_NEVER_WRONG = 'usage after changes reads as if nothing wrong had ever been sent';
const CHDB = 'infra/clickhouse/embedded/chdb.store.test.ts';
const CHANGES = 'domain/store/usage-changes.store.test.ts';
const VIEWS = 'control-plane/usage/usage-views.store.test.ts';
const SOURCES = 'domain/store/usage-sources';

/** Changes of usage as they are stored and read. */
export const CORRECTED_READS_MUTANTS = [
  mutant('hidden-change-counted', [4])
    .why('readers count a backfill that is half closed, and one that was reverted')
    .is(SOURCES, "return 'change <= ' + numberText(upTo);")
    .red(READS, AS_NEVER_WRONG),
  mutant('voided-hours-of-the-rollup', [4])
    .why('the largest, latest and different values of an hour still have what was voided')
    .is(SOURCES, "const others = '';")
    .red(READS, AS_NEVER_WRONG),
  mutant('void-outlives-its-event', [4])
    .why('a backfill is reverted whose events were voided: sums are less than what is left')
    .is(SOURCES, 'return eventCounts(view);')
    .red(READS, AS_NEVER_WRONG),
  mutant('voids-added', [4])
    .why('what is voided counts twice and not never')
    .is('infra/clickhouse/rollups/tally', 'total: totalOf')
    .red(READS, AS_NEVER_WRONG),
  mutant('change-without-its-token', [4])
    .why('a block of a change that is sent again is added, and taken away, twice')
    .is(
      'infra/clickhouse/insert-events',
      'const isInserted = await transport.insertMade(\n' +
        '  { ...block, token: String(performance.now()) }, tablesOfChange(ofChange));',
    )
    .red(CHDB, 'is counted once per token, whatever else has the same'),
  mutant('change-numbers-in-any-order', [4])
    .why('a view knows of the later of two changes alone, and counts rows of the earlier as they are stored')
    .drop('domain/store/usage-changes')
    .red(CHANGES, 'numbers of an environment are committed in their order'),
  mutant('closing-change-left-out', [4])
    .why('a strong read after the response of a void still counts the event')
    .is('control-plane/usage/usage-views', 'const wasClosing = false;')
    .red(VIEWS, 'a fresh view has every change that was closing before it, and waits for no other'),
];
