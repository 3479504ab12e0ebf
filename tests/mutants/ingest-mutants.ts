import { mutant } from './mutant-row.ts';

const BEGIN_USAGE = 'ingest/begin-usage.test.ts';
const BATCHES = 'ingest/embedded/batches.test.ts';
const COMMIT = 'ingest/embedded/group-commit.test.ts';
const POWER_CUT = 'tests/faults/crash-consistency/power-cut.sys.test.ts';
const JS_ENGINE = 'ingest/engine/js/js-engine.test.ts';
const KEY_TABLE = 'infra/key-table/key-table.test.ts';
const COLD_READS = 'infra/key-table/cold-reads.test.ts';
const RECORD = 'infra/key-table/unreadable-record.test.ts';
const ADMISSION = 'ingest/http/admission.test.ts';
const READ_BODY = 'ingest/http/read-body.test.ts';
const FORWARD_SLOW_BODIES = 'ingest/forward/forward-slow-bodies.test.ts';
const FORWARD_PLACES = 'ingest/forward/forward-places.test.ts';
const FAIR_SHARES = 'infra/platform/fair-shares.test.ts';
const REQUEST_SLOTS = 'control-plane/http/request-slots.test.ts';
const API_KEY_CACHE = 'domain/api-key-cache.test.ts';
const WASM_GUARDS = 'ingest/engine/wasm/wasm-guards.test.ts';
const WASM_ENGINE = 'ingest/engine/wasm/wasm-engine.test.ts';

/** The way of a usage request up to its response, in both engines. */
export const INGEST_MUTANTS = [
  mutant('response-before-flush', [1, 6])
    .why('a client receives an acknowledgement of events that a kill half a millisecond later takes away')
    .after('ingest/embedded/group-commit', "waiter.resolve('durable');")
    .red(COMMIT, 'no response is sent before its frame is durable and its claims are confirmed')
    .red(POWER_CUT, 'acknowledges no event that a power cut can still take')
    .shownBy({ promise: 1, rounds: 8 }),
  mutant('response-settled-before-its-write', [1, 6])
    .why('the write may fail, or its process end, after the acknowledgement')
    .is('ingest/embedded/group-commit', "settle(batch, 'durable'); await write(deps, batch, batches);")
    .red(COMMIT, 'no response is sent before its frame is durable and its claims are confirmed')
    // The write takes half a millisecond: one kill in seven or so comes before its end.
    .shownBy({ promise: 1, rounds: 40 }),
  mutant('response-not-waited-for', [1, 6])
    .why('the response is sent while its commit is still in flight')
    .before('ingest/begin-usage', 'reply.respond(response, created);')
    .red(BEGIN_USAGE, 'a request with events gets its response when they are durable, not before')
    .shownBy({ promise: 1, rounds: 8 }),
  mutant('replay-before-its-flush', [1])
    .why('a duplicate is acknowledged while the flush of its original is still in flight')
    .always('ingest/engine/js/js-engine')
    .red(JS_ENGINE, 'of two requests that race, one creates and the other waits for its commit'),
  mutant('unread-keys-taken-for-new', [2])
    .why('an event whose key only a file has is counted again')
    .drop('infra/key-table/find-old')
    .red(COLD_READS, 'are read before the decision, which claims nothing until then')
    .red(KEY_TABLE, 'that are durable survive a restart, clean or not'),
  mutant('cold-keys-read-in-the-turn', [9])
    .why('a disk that hangs stops the event loop of the data plane: no request gets a response')
    .is('infra/key-table/find-old', 'const group = readGroupNow(place);')
    .red(COLD_READS, 'are read before the decision, which claims nothing until then'),
  mutant('cold-reads-untimed', [9])
    .why('requests wait for a disk that hangs, however long, with their bodies')
    .is('infra/key-table/cold-reads', 'const timer = undefined;')
    .red(COLD_READS, 'on a disk that hangs are given up in time, and for a tenant only so many wait'),
  mutant('tenants-served-in-order-of-arrival', [9])
    .why('one tenant whose clients repeat old keys keeps the old keys of others from being read at all')
    .drop('infra/platform/fair-lines')
    .red(COLD_READS, 'are read for one tenant after another'),
  mutant('groups-of-a-request-forgotten', [9])
    .why('with many requests for old keys one takes from the other what it has read: none gets its response')
    .drop('infra/key-table/cold-reads')
    .red(COLD_READS, 'that were read last are kept, up to so many bytes, and together those of a request'),
  mutant('lent-body-read-later', [1, 2])
    .why('the events of another request are stored in place of those that are acknowledged')
    .is('ingest/begin-usage', 'return request;')
    .red(BEGIN_USAGE, 'a request whose keys are read from the disk is read again, from a body of its own'),
  mutant('two-step-claim', [2])
    .why('between lookup and reservation another request finds the key free as well: both are counted')
    .is(
      'infra/key-table/key-table',
      `const known = generations.next;
        const judged = generations.claim(piece, find);
        const records = batch.records.slice();
        generations.takeBack(known);
        setImmediate(() => generations.claim({ ...piece, batch: { ...batch, records } }, find));`,
    )
    .red(JS_ENGINE, 'of two requests that race, one creates and the other waits for its commit')
    .red(KEY_TABLE, 'judges the items of one batch in order')
    .shownBy({ promise: 2, rounds: 2 }),
  mutant('claims-kept-when-a-read-fails', [1])
    .why('new keys in a batch with an unreadable one stay claimed: a retry returns duplicate, and is lost')
    .drop('infra/key-table/key-table')
    .red(RECORD, 'keys claimed together with one that cannot be read are free, and what follows is in order'),
  mutant('memory-given-back-before-the-write', [1, 3])
    .why('the next request writes over lines that are on their way to the disk')
    .before('ingest/embedded/group-commit', 'batches.giveBack(batch);')
    .red(
      COMMIT,
      'what is written stays as it is until its outcome is known, and after a failure for good',
      /fails its checksum/,
    ),
  mutant('claims-kept-without-memory', [1])
    .why('a request without memory for its copy stays claimed: its retry returns duplicate, and is lost')
    .drop('ingest/embedded/group-commit')
    .red(COMMIT, 'a part for whose copy there is no memory is rejected, and its claim is free at once'),
  mutant('lent-memory-kept', [1, 3])
    .why('a request that does not fit into a full frame is stored with the events of another one')
    .is('ingest/embedded/batches', 'waiting.push(request);')
    .red(BATCHES, 'a part is read in its call only, whether it fits into the frame or waits for the next'),
  mutant('numbers-of-another-request', [2])
    .why('events of a request count for the customers of another one whose frame they share')
    .is('ingest/embedded/touched-numbers', 'numbers[before + event] = inPart[event] ?? 0;')
    .red(BATCHES, 'each event keeps its customer and meter, whatever requests share its frame'),
  mutant('frame-beyond-its-bound', [9])
    .why('a frame grows with what waits: its memory has no bound, and no reader takes it')
    .never('ingest/embedded/frame-memory')
    .red(
      BATCHES,
      'a frame takes what fills it to the last byte, and what exceeds it alone',
      /offset is out of bounds/,
    ),
  mutant('claim-released-on-unknown-outcome', [2])
    .why('a frame that failed and yet is on the log has its keys free: a retry is counted again')
    .after(
      'ingest/embedded/group-commit',
      'deps.store.release(batch.requests.map(({ part }) => part.claim));',
    )
    .red(COMMIT, 'a log that fails rejects all that wait, all that come, and `failed`; no claim is touched'),
  mutant('ids-random', [2, 3, 5])
    .why('a retry is another event: another id, and counted again')
    .swap('ingest/engine/js/js-engine', 'item.checked.idempotencyKey', 'crypto.randomUUID()')
    .red(JS_ENGINE, 'a replay is the first event again, byte for byte, on every path')
    .shownBy({ promise: 3, rounds: 2 }),
  mutant('replay-keeps-its-own-times', [3])
    .why('a duplicate returns the times of the repeat, not those of the event that is counted')
    .drop('infra/key-table/generations')
    .red(KEY_TABLE, 'creates what is new, and gives a repeat the times of the original')
    .red(JS_ENGINE, 'a replay is the first event again, byte for byte, on every path')
    .shownBy({ promise: 3, rounds: 2 }),
  mutant('queue-unbounded', [8, 9])
    .why('what a hanging log holds back grows until the memory is gone')
    .drop('infra/platform/fair-shares')
    .red(ADMISSION, 'bytes are taken up to the bound, and a rejection takes nothing')
    .red(READ_BODY, 'what admission does not allow is rejected, and an abort makes room again')
    .shownBy({ promise: 9, rounds: 1 }),
  mutant('strangers-take-all-places', [9])
    .why('requests that anybody may send make all others receive 503')
    .never('ingest/forward/places')
    .red(FORWARD_SLOW_BODIES, 'and whole ones without a key take an eighth of the places at most')
    .red(FORWARD_PLACES, 'take an eighth of the places, and leave the others to secret keys and to bodies'),
  mutant('one-share-for-all', [9])
    .why('stalled bodies of one key make all other environments receive 503')
    .never('infra/platform/fair-shares')
    .red(ADMISSION, 'an environment that stalls leaves the others room for their largest requests')
    .red(FAIR_SHARES, 'leave a newcomer its part, whatever one to four others have taken and given back')
    .red(REQUEST_SLOTS, 'an environment that takes all places it can get leaves places to others'),
  mutant('queue-bounded-by-count', [9])
    .why('a hundred thousand pieces of bodies may be gigabytes')
    .is('infra/platform/fair-shares', 'if (held > 100_000 * 65_536) return false;')
    .red(ADMISSION, 'bytes are taken up to the bound, and a rejection takes nothing')
    .shownBy({ promise: 9, rounds: 1 }),
  mutant('known-keys-not-kept', [8])
    .why('with Postgres unavailable every request is rejected ten seconds later')
    .always('domain/api-key-cache')
    .red(
      API_KEY_CACHE,
      'while Postgres is unavailable a known key is good for 10 minutes, others are Transient',
      /^Postgres is unavailable\.$/,
    ),
  mutant('lookup-without-timeout', [8])
    .why('with Postgres hanging every request hangs with it, those of known keys too')
    .is('domain/api-key-cache', 'return judged(await recheck(text, entry));')
    .red(API_KEY_CACHE, 'a query that hangs delays one request briefly, and the next not at all'),
  mutant('batch-replay-before-its-flush', [1])
    .why('a batch of duplicates is acknowledged while the flush of their originals is still in flight')
    .always('ingest/engine/wasm/wasm-engine')
    .red(WASM_GUARDS, 'that repeats one in flight waits for its commit'),
  mutant('batch-ids-random', [2, 3, 5])
    .why('a batch that is sent again is other events, and so is one of its events sent alone')
    .is('ingest/engine/wasm/wasm-engine', 'module.useKey(crypto.getRandomValues(new Uint8Array(32)));')
    .red(WASM_ENGINE, 'write the same responses, records and lines for the same requests')
    .shownBy({ promise: 3, rounds: 2 }),
  mutant('overtaken-batch-decided', [1, 2])
    .why('a batch that waited for its key lookup stores the events of the one read after it')
    .always('ingest/engine/wasm/wasm-engine')
    .red(WASM_ENGINE, 'a reading that was overtaken by another is decided as if it came alone'),
  mutant('batch-of-any-bytes', [7])
    .why('bytes that are no UTF-8 are acknowledged and written into a line')
    .never('ingest/engine/wasm/wasm-engine')
    .red(WASM_GUARDS, 'with an overlong form in a text is rejected as a whole'),
  mutant('claim-kept-without-a-write', [1])
    .why('keys that nothing commits: a retry returns duplicate for an event that is on no log')
    .drop('ingest/engine/claim-keys')
    .red(WASM_ENGINE, 'keys that the fast engine claimed are free again when it cannot write'),
];
