import type { Mutant } from './mutant.ts';

/** What only shows while a store is unavailable. */
export const OUTAGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'known-forgotten-with-postgres',
    promises: [8],
    why: 'what was known is forgotten when Postgres goes, and nothing is acknowledged until it is back',
    module: 'app/roles/data-plane',
    find: 'onSession: clear,',
    replace: 'onSession: clear, onLost: clear,',
    provedBy: [
      {
        test: 'tests/faults/outage/outage.timed.test.ts',
        title: 'goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang',
      },
    ],
  },
  {
    name: 'lookups-wait',
    promises: [8],
    why: 'one stranger in a batch holds up all of it, for as long as Postgres hangs',
    module: 'infra/platform/circuit-breaker',
    find: 'await inTime(ask(), patienceMs)',
    replace: 'await ask()',
    provedBy: [
      {
        test: 'infra/platform/circuit-breaker.test.ts',
        title: 'a query that hangs is given up, and no other caller waits for it',
      },
      {
        test: 'tests/faults/outage/outage.timed.test.ts',
        title: 'goes on while ClickHouse or Postgres is dead or hangs, and stops in time while both hang',
      },
    ],
  },
  {
    name: 'goodbye-awaited',
    promises: [8],
    why: 'a stop waits until a Postgres that hangs has closed every connection',
    module: 'infra/postgres/pool',
    find: 'for (const socket of this.#sockets) socket.destroy();',
    replace: '',
    provedBy: [
      {
        test: 'infra/postgres/pool.store.test.ts',
        title: 'a pool ends quickly while its server hangs, in the middle of a statement and at rest',
      },
    ],
  },
  {
    name: 'hanging-backends-left',
    promises: [8],
    why: 'the processes of a Postgres that hangs outlive its stop, and its memory with them',
    module: 'infra/postgres/embedded',
    find: "if (existsSync(join(directory, 'postmaster.pid'))) await clearLeftovers(directory, family);",
    replace: '',
    provedBy: [
      {
        test: 'infra/postgres/embedded.store.test.ts',
        title: 'a server that hangs is ended in the time given, with all its processes',
      },
    ],
  },
  {
    name: 'block-without-bound',
    promises: [8],
    why: 'while ClickHouse is unavailable all that is acknowledged accumulates in memory',
    module: 'aggregator/load/block-reader',
    find: 'block.eventCount >= rowsMax || bytes >= bytesMax;',
    replace: 'block.eventCount >= rowsMax * 1e6 || bytes >= bytesMax * 1e6;',
    provedBy: [
      {
        test: 'aggregator/load/block-reader.test.ts',
        title: 'a block has whole frames up to its limit and the next one begins behind it',
      },
    ],
  },
];
