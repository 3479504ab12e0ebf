import { mutant } from './mutant-row.ts';

const NODE_KILLS = 'tests/clients/node-kills.sys.test.ts';
const NODE_SPOOL = 'sdk/node/src/spool/spool.test.ts';
const NODE_RECORD = 'sdk/node/src/spool/record.test.ts';
const NODE_RETRIES = 'sdk/node/src/meter/retries.test.ts';
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
];
