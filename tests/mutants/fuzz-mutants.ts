import { mutant } from './mutant-row.ts';

const JS_ENGINE = 'ingest/engine/js/js-engine.test.ts';
const DECIMAL = 'schemas/primitives/decimal.test.ts';
const UWS_FRONT = 'infra/http/uws-front.test.ts';
const FUZZ = 'tests/faults/fuzz/fuzz.timed.test.ts';
const HEALTH_SERVER = 'app/roles/health-server.test.ts';
const OPERATIONS = 'ingest/http/operations.test.ts';
const CATALOGUE = 'control-plane/routes/catalogue.store.test.ts';

/** What keeps fuzz bytes and sockets at the public port from doing harm. */
export const FUZZ_MUTANTS = [
  mutant('body-walked-recursively', [7])
    .why('nothing here recurses, which is the guard against depth: a body of brackets ends the stack, a 500')
    .before(
      'ingest/engine/js/parse',
      `const parsed = () => { try { return JSON.parse(json.toString()); } catch { return 0; } };
       JSON.stringify(parsed());`,
    )
    .red(
      JS_ENGINE,
      'a value nested 500,000 deep is an ordinary error of its item',
      /^Maximum call stack size exceeded$/,
    )
    .shownBy({ promise: 7, rounds: 1 }),
  mutant('surrogate-check-removed', [7])
    .why('half a surrogate pair is acknowledged, and ClickHouse then rejects its whole block')
    .never('ingest/engine/js/json-scalars')
    .red(
      JS_ENGINE,
      "'half a surrogate pair in customerId' is 'invalid_request', in the same words on every path, " +
        'and leaves the key free',
    )
    .shownBy({ promise: 7, rounds: 1 }),
  mutant('is-finite-removed', [7])
    .why('a number beyond every bound, as 1e999999999, is written out: a 500, or a value rejected later')
    .never('schemas/primitives/decimal')
    .red(DECIMAL, 'the limits are 15 integer and 12 fraction digits, without leading and trailing zeros')
    .shownBy({ promise: 7, rounds: 1 }),
  mutant('on-aborted-removed', [7])
    .why('a response is touched after its client is gone: in uWebSockets.js that ends the process')
    .is('infra/http/uws-exchange', 'res.onAborted(() => undefined);')
    .red(
      UWS_FRONT,
      'reports when a client disconnects before its response',
      /in vain until the exchange ends$/,
    )
    // Of a process that ends under them some clients are not even connected.
    .shownBy({ promise: 7, rounds: 1, stopsWith: /ECONNRE(SET|FUSED)/ }),
  mutant('doubtful-framing-taken', [7])
    .why('behind a proxy that sees another end of a body, a client sends a request in the name of another')
    .never('infra/http/uws-front')
    .red(FUZZ, '5,000 fuzz bodies, the JSON cases and every misuse of a connection do no harm')
    .red(
      UWS_FRONT,
      'carries out nothing that hides behind two lengths',
      /in vain until the server closes it$/,
    ),
  mutant('unread-responses-without-bound', [9])
    .why('clients who ask and do not read, each within its time, take more memory together than there is')
    .always('infra/http/unread-responses')
    .red(
      UWS_FRONT,
      'holds only so many responses for all idle readers, and serves clients that read',
      /in vain until all but three are broken off$/,
    ),
  mutant('readiness-checked-each-time', [9])
    .why('any client that reaches /readyz makes each request query the stores, and delays all counters')
    .never('infra/platform/shared-outcome')
    .red(HEALTH_SERVER, 'checks its stores once for all concurrent requests, whatever they may see')
    .red(OPERATIONS, 'requests both planes once for all concurrent callers, on either port'),
  mutant('metadata-rounded', [7])
    .why('a double rounds 123456789.000000000001, and 1e400 is acknowledged as null')
    .swap('control-plane/input/read-metadata', 'parseExact(', 'JSON.parse(')
    .red(FUZZ, '5,000 fuzz bodies, the JSON cases and every misuse of a connection do no harm')
    .red(CATALOGUE, 'keeps the numbers in its metadata to the last digit, and takes none beyond the limits'),
];
