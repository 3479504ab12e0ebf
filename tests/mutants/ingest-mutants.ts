import type { Mutant } from './mutant.ts';

const GROUP_COMMIT_TEST = 'ingest/embedded/group-commit.test.ts';
const ENGINE_TEST = 'ingest/engine/js/js-engine.test.ts';

/** The way of a request up to its response. */
export const INGEST_MUTANTS: readonly Mutant[] = [
  {
    name: 'response-before-flush',
    promises: [1, 6],
    why: 'a client receives an acknowledgement of events that a kill half a millisecond later takes away',
    module: 'ingest/embedded/group-commit',
    find: 'waiting.push({ part, resolve, reject });',
    replace: "waiting.push({ part, resolve, reject }); resolve('durable');",
    provedBy: [
      {
        test: GROUP_COMMIT_TEST,
        title: 'no response is sent before its frame is durable and its claims are confirmed',
      },
      {
        test: 'tests/faults/crash-consistency/power-cut.sys.test.ts',
        title: 'acknowledges no event that a power cut can still take',
      },
    ],
    shownBy: { promise: 1, rounds: 8 },
  },
  {
    name: 'response-settled-before-its-write',
    promises: [1, 6],
    why: 'the write may fail, or its process end, after the acknowledgement',
    module: 'ingest/embedded/group-commit',
    find: 'settle(frame, await write(deps, frame, waiting));',
    replace: "settle(frame, 'durable'); await write(deps, frame, waiting);",
    provedBy: [
      {
        test: GROUP_COMMIT_TEST,
        title: 'no response is sent before its frame is durable and its claims are confirmed',
      },
    ],
    // The write takes half a millisecond: one kill in seven or so comes before its end.
    shownBy: { promise: 1, rounds: 40 },
  },
  {
    name: 'response-not-waited-for',
    promises: [1, 6],
    why: 'the response is sent while its commit is still in flight',
    module: 'ingest/http/accept',
    find: "if ((await durable) === 'no_space')",
    replace: 'if (false)',
    provedBy: [],
    shownBy: { promise: 1, rounds: 8 },
  },
  {
    name: 'replay-before-its-flush',
    promises: [1],
    why: 'a duplicate is acknowledged while the flush of its original is still in flight',
    module: 'ingest/engine/js/js-engine',
    find: 'if (claim.created === 0 && !claim.waits) return { response };',
    replace: 'if (claim.created === 0) return { response };',
    provedBy: [
      {
        test: ENGINE_TEST,
        title: 'of two requests that race, one creates and the other waits for its commit',
      },
    ],
  },
  {
    name: 'two-step-claim',
    promises: [2],
    why: 'between lookup and reservation another request finds the key free as well: both are counted',
    module: 'infra/key-table/key-table',
    find: 'slots.insert(records, at, recent.append(records, at));',
    replace: 'const made = recent.append(records, at); setImmediate(() => slots.insert(records, at, made));',
    provedBy: [
      {
        test: ENGINE_TEST,
        title: 'of two requests that race, one creates and the other waits for its commit',
      },
      { test: 'infra/key-table/key-table.test.ts', title: 'judges the items of one batch in order' },
    ],
    shownBy: { promise: 2, rounds: 2 },
  },
  {
    name: 'claims-kept-when-a-read-fails',
    promises: [1],
    why: 'new keys in a batch with an unreadable one stay claimed: a retry returns duplicate, and is lost',
    module: 'infra/key-table/key-table',
    find: 'takeBack(parts, firstRecord, end);',
    replace: '',
    provedBy: [
      {
        test: 'infra/key-table/unreadable-record.test.ts',
        title: 'keys claimed together with one that cannot be read are free, and what follows is in order',
      },
    ],
  },
  {
    name: 'memory-given-back-before-the-write',
    promises: [1, 3],
    why: 'the next request writes over lines that are on their way to the disk',
    module: 'ingest/embedded/group-commit',
    find: 'settle(frame, await write(deps, frame, waiting));',
    replace:
      'for (const { part } of frame) part.giveBack?.(); settle(frame, await write(deps, frame, waiting));',
    provedBy: [
      {
        test: GROUP_COMMIT_TEST,
        title: 'what a frame was made of is given back once it is durable, not when that is unknown',
      },
    ],
  },
  {
    name: 'claim-released-on-unknown-outcome',
    promises: [2],
    why: 'a frame that failed and yet is on the log has its keys free: a retry is counted again',
    module: 'ingest/embedded/group-commit',
    find: 'for (const { reject } of frame) reject(error); throw error;',
    replace:
      'for (const { reject } of frame) reject(error); ' +
      'deps.store.release(frame.map(({ part }) => part.claim)); throw error;',
    provedBy: [
      {
        test: GROUP_COMMIT_TEST,
        title: 'a log that fails rejects all that wait, all that come, and `failed`; no claim is touched',
      },
    ],
  },
  {
    name: 'ids-random',
    promises: [2, 3, 5],
    why: 'a retry is another event: another id, and counted again',
    module: 'ingest/engine/js/js-engine',
    find: 'identifier.identify(item.checked.idempotencyKey, fingerprintText(item.checked, item));',
    replace: 'identifier.identify(crypto.randomUUID(), fingerprintText(item.checked, item));',
    provedBy: [
      { test: ENGINE_TEST, title: 'a replay is the first event again, byte for byte, on every path' },
    ],
    shownBy: { promise: 3, rounds: 2 },
  },
  {
    name: 'replay-keeps-its-own-times',
    promises: [3],
    why: 'a duplicate returns the times of the repeat, not those of the event that is counted',
    module: 'infra/key-table/record-finder',
    find: 'copyTimes(words, from, repeat, at);',
    replace: '',
    provedBy: [
      {
        test: 'infra/key-table/key-table.test.ts',
        title: 'creates what is new, and gives a repeat the times of the original',
      },
      { test: ENGINE_TEST, title: 'a replay is the first event again, byte for byte, on every path' },
    ],
    shownBy: { promise: 3, rounds: 2 },
  },
  {
    name: 'queue-unbounded',
    promises: [8, 9],
    why: 'what a hanging log holds back grows until the memory is gone',
    module: 'infra/platform/fair-shares',
    find: 'if (free < 0 || (share > free && share > alwaysMax)) return false;',
    replace: '',
    provedBy: [
      {
        test: 'ingest/http/admission.test.ts',
        title: 'bytes are taken up to the bound, and a rejection takes nothing',
      },
      {
        test: 'ingest/http/read-body.test.ts',
        title: 'what admission does not allow is rejected, and an abort makes room again',
      },
    ],
    shownBy: { promise: 9, rounds: 1 },
  },
  {
    name: 'strangers-take-all-places',
    promises: [9],
    why: 'requests that anybody may send make all others receive 503',
    module: 'ingest/forward/forward',
    find: '(isStrangers && strangers >= strangersMax)',
    replace: 'false',
    provedBy: [
      {
        test: 'ingest/forward/forward-slow-bodies.test.ts',
        title: 'and whole ones without a key take an eighth of the places at most',
      },
    ],
  },
  {
    name: 'one-share-for-all',
    promises: [9],
    why: 'stalled bodies of one key make all other environments receive 503',
    module: 'infra/platform/fair-shares',
    find: 'if (free < 0 || (share > free && share > alwaysMax)) return false;',
    replace: 'if (free < 0) return false;',
    provedBy: [
      {
        test: 'ingest/http/admission.test.ts',
        title: 'an environment that stalls leaves the others room for their largest requests',
      },
      {
        test: 'infra/platform/fair-shares.test.ts',
        title: 'leave a newcomer its part, whatever one to four others have taken and given back',
      },
      {
        test: 'control-plane/http/request-slots.test.ts',
        title: 'an environment that takes all places it can get leaves places to others',
      },
    ],
  },
  {
    name: 'queue-bounded-by-count',
    promises: [9],
    why: 'a hundred thousand pieces of bodies may be gigabytes',
    module: 'infra/platform/fair-shares',
    find: 'if (free < 0 || (share > free && share > alwaysMax)) return false;',
    replace: 'if (held > 100_000 * 65_536) return false;',
    provedBy: [
      {
        test: 'ingest/http/admission.test.ts',
        title: 'bytes are taken up to the bound, and a rejection takes nothing',
      },
    ],
    shownBy: { promise: 9, rounds: 1 },
  },
  {
    name: 'known-keys-not-kept',
    promises: [8],
    why: 'with Postgres unavailable every request is rejected ten seconds later',
    module: 'domain/api-key-cache',
    find: 'if (!(error instanceof Transient) || age > OUTAGE_MS_MAX) throw error;',
    replace: 'throw error;',
    provedBy: [
      {
        test: 'domain/api-key-cache.test.ts',
        title: 'while Postgres is unavailable a known key is good for 10 minutes, others are Transient',
        stopsWith: /^Postgres is unavailable\.$/,
      },
    ],
  },
  {
    name: 'lookup-without-timeout',
    promises: [8],
    why: 'with Postgres hanging every request hangs with it, those of known keys too',
    module: 'domain/api-key-cache',
    find: 'return judged(await inTime(recheck(text, entry), RECHECK_PATIENCE_MS));',
    replace: 'return judged(await recheck(text, entry));',
    provedBy: [
      {
        test: 'domain/api-key-cache.test.ts',
        title: 'a query that hangs delays one request briefly, and the next not at all',
      },
    ],
  },
];
