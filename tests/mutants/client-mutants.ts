import { mutant } from './mutant-row.ts';

const NODE_KILLS = 'tests/clients/node-kills.sys.test.ts';
const NODE_SPOOL = 'sdk/node/src/spool/spool.test.ts';
const NODE_RECORD = 'sdk/node/src/spool/record.test.ts';
const NODE_RETRIES = 'sdk/node/src/meter/retries.test.ts';
const NODE_USAGE = 'sdk/node/src/meter/own-usage.test.ts';
const NODE_FEED = 'sdk/node/src/entitlements/feed.test.ts';
const KILLED = 'every event in a spool is counted once, whenever its process is killed';

/** What clients lose that keep events until they are counted. */
export const CLIENT_MUTANTS = [
  mutant('tracked-before-the-write', [23])
    .why('an event is taken that is in no file: the end of its process takes it')
    .drop('sdk/node/src/spool/spool-folder')
    .red(NODE_SPOOL, 'of a process that ended is taken over, from where it was settled')
    .red(NODE_KILLS, KILLED),
  mutant('cursor-ahead', [23])
    .why('what is being sent counts as settled: a kill before the response loses it')
    .before(
      'sdk/node/src/spool/spool-folder',
      'this.moveCursor({ segment: segment.number, position: taken.end });',
    )
    .red(NODE_SPOOL, 'of a process that ended is taken over, from where it was settled'),
  mutant('spool-checksum-ignored', [23])
    .why('what a power cut left of an event is sent as one')
    .never('sdk/node/src/spool/record')
    .red(NODE_RECORD, 'what is cut or changed anywhere ends the reading there, and is never an event'),
  mutant('orphans-left', [23])
    .why('what a process had not sent when it ended is sent by no other')
    .always('sdk/node/src/spool/adopt')
    .red(NODE_SPOOL, 'of a process that ended is taken over, from where it was settled')
    .red(NODE_KILLS, KILLED),
  mutant('garbage-settled', [23])
    .why('any JSON with 200, of whatever is in between, settles the events of its request')
    .is(
      'sdk/node/src/meter/results',
      "if (!Array.isArray(results)) return payloads.map(() => ({ status: 'created' }));",
    )
    .red(NODE_RETRIES, 'a 200 with JSON of something else'),
  mutant('own-usage-not-counted', [18])
    .why('a burst of one client passes a limit: what it tracked is not counted yet')
    .is('sdk/node/src/entitlements/check', 'const own = 0n;')
    .red(NODE_FEED, 'counts what its own meter has tracked at once, so that a burst cannot pass a limit'),
  mutant('own-usage-forgotten-early', [18])
    .why('a client takes what was just acknowledged for counted, and allows it again')
    .never('sdk/node/src/meter/own-usage')
    .red(NODE_USAGE, 'counts what was tracked until the server has counted it, and each key once'),
  mutant('unready-feed-decides', [18])
    .why('a client decides by a part of what the feed is about to tell it')
    .always('sdk/node/src/entitlements/feed-connection')
    .red(NODE_FEED, 'decides nothing by a stream that is silent or does not say that it is whole'),
];
