import { mutant } from './mutant-row.ts';

const OUTAGE = 'tests/faults/outage/outage.timed.test.ts';
const CIRCUIT_BREAKER = 'infra/platform/circuit-breaker.test.ts';
const POOL = 'infra/postgres/pool.store.test.ts';
const EMBEDDED = 'infra/postgres/embedded.store.test.ts';
const BLOCK_READER = 'aggregator/load/block-reader.test.ts';

/** What only shows while a store is unavailable. */
export const OUTAGE_MUTANTS = [
  mutant('known-forgotten-with-postgres', [8])
    .why('what was known is forgotten when Postgres goes, and nothing is acknowledged until it is back')
    .is('app/roles/data-plane', 'onSession: clear, onLost: clear')
    .red(OUTAGE, 'goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang'),
  mutant('lookups-wait', [8])
    .why('one stranger in a batch holds up all of it, for as long as Postgres hangs')
    .is('infra/platform/circuit-breaker', 'const found = await call();')
    .red(CIRCUIT_BREAKER, 'a query that hangs is given up, and no other caller waits for it')
    .red(OUTAGE, 'goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang'),
  mutant('goodbye-awaited', [8])
    .why('a stop waits until a Postgres that hangs has closed every connection')
    .drop('infra/postgres/pool')
    .red(POOL, 'a pool ends quickly while its server hangs, in the middle of a statement and at rest'),
  mutant('hanging-backends-left', [8])
    .why('the processes of a Postgres that hangs outlive its stop, and its memory with them')
    .drop('infra/postgres/embedded')
    .red(EMBEDDED, 'a server that hangs is ended in the time given, with all its processes'),
  mutant('block-without-bound', [8])
    .why('while ClickHouse is unavailable all that is acknowledged accumulates in memory')
    .never('aggregator/load/block-reader')
    .red(BLOCK_READER, 'a block has whole frames up to its limit and the next one begins behind it'),
];
