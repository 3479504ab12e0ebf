import type { Mutant } from './mutant.ts';

const ENGINE_TEST = 'ingest/engine/js/js-engine.test.ts';

/** What keeps fuzz bytes from becoming a 5xx or the end of the process. */
export const FUZZ_MUTANTS: readonly Mutant[] = [
  {
    name: 'body-walked-recursively',
    promises: [7],
    why: 'nothing here recurses, which is the guard against depth: a body of brackets ends the stack, a 500',
    module: 'ingest/engine/js/check-item',
    find: "if (!isObject(raw)) return invalid('Each event must be a JSON object.');",
    replace: "JSON.stringify(raw); if (!isObject(raw)) return invalid('Each event must be a JSON object.');",
    provedBy: [
      {
        test: ENGINE_TEST,
        title: 'a value nested 500,000 deep is an ordinary error of its item',
        stopsWith: /^Maximum call stack size exceeded$/,
      },
    ],
    shownBy: { promise: 7, rounds: 1 },
  },
  {
    name: 'surrogate-check-removed',
    promises: [7],
    why: 'half a surrogate pair is acknowledged, and ClickHouse then rejects its whole block',
    module: 'ingest/engine/js/json-scalars',
    find: String.raw`return text.includes('\u0000') || !text.isWellFormed();`,
    replace: String.raw`return text.includes('\u0000');`,
    provedBy: [
      {
        test: ENGINE_TEST,
        title:
          "'half a surrogate pair in customerId' is 'invalid_request', in the same words on every path, " +
          'and leaves the key free',
      },
    ],
    shownBy: { promise: 7, rounds: 1 },
  },
  {
    name: 'is-finite-removed',
    promises: [7],
    why: 'a number beyond every bound, as 1e999999999, is written out: a 500, or a value rejected later',
    module: 'schemas/primitives/decimal',
    find: 'return point > INTEGER_DIGITS_MAX;',
    replace: 'return false;',
    provedBy: [
      {
        test: 'schemas/primitives/decimal.test.ts',
        title: 'the limits are 15 integer and 12 fraction digits, whatever zeros stand around them',
      },
    ],
    shownBy: { promise: 7, rounds: 1 },
  },
  {
    name: 'on-aborted-removed',
    promises: [7],
    why: 'a response is touched after its client is gone: in uWebSockets.js that ends the process',
    module: 'infra/http/uws-exchange',
    find: 'res.onAborted(() => this.clientIsGone());',
    replace: 'res.onAborted(() => undefined);',
    provedBy: [
      {
        test: 'infra/http/uws-front.test.ts',
        title: 'reports when a client disconnects before its response',
        stopsWith: /in vain until the exchange ends$/,
      },
    ],
    // Of a process that ends under them some clients are not even connected.
    shownBy: { promise: 7, rounds: 1, stopsWith: /ECONNRE(SET|FUSED)/ },
  },
];
