import type { Mutant } from './mutant.ts';

const SHORT_FORM = {
  test: 'tests/faults/fuzz/fuzz.timed.test.ts',
  title: '5,000 fuzz bodies, the JSON cases and every misuse of a connection do no harm',
};

/** Faults that the fuzz bodies and sockets once found, at the public port. */
export const DOOR_MUTANTS: readonly Mutant[] = [
  {
    name: 'doubtful-framing-taken',
    promises: [7],
    why: 'behind a proxy that sees another end of a body, a client sends a request in the name of another',
    module: 'infra/http/uws-front',
    find: "if (framing === 'ambiguous') exchange.breakOff();",
    replace: 'if (false) exchange.breakOff();',
    provedBy: [
      SHORT_FORM,
      {
        test: 'infra/http/uws-front.test.ts',
        title: 'carries out nothing that hides behind two lengths',
        stopsWith: /in vain until the server closes it$/,
      },
    ],
  },
  {
    name: 'unread-responses-without-bound',
    promises: [9],
    why: 'clients who ask and do not read, each within its time, take more memory together than there is',
    module: 'infra/http/unread-responses',
    find: 'if (heldBytes <= bytesMax) return;',
    replace: 'return;',
    provedBy: [
      {
        test: 'infra/http/uws-front.test.ts',
        title: 'holds only so many responses for all idle readers, and serves clients that read',
        stopsWith: /in vain until all but three are broken off$/,
      },
    ],
  },
  {
    name: 'readiness-checked-each-time',
    promises: [9],
    why: 'any client that reaches /readyz makes each request query the stores, and delays all counters',
    module: 'infra/platform/shared-outcome',
    find: 'shared && nowMs() < shared.staleAtMs ? shared.outcome : begin()',
    replace: 'begin()',
    provedBy: [
      {
        test: 'app/roles/health-server.test.ts',
        title: 'checks its stores once for all concurrent requests, whatever they may see',
      },
      {
        test: 'ingest/http/operations.test.ts',
        title: 'requests both planes once for all concurrent callers, on either port',
      },
    ],
  },
  {
    name: 'metadata-rounded',
    promises: [7],
    why: 'a double rounds 123456789.000000000001, and 1e400 is acknowledged as null',
    module: 'control-plane/input/read-metadata',
    find: 'parseExact(bodyText)',
    replace: 'JSON.parse(bodyText)',
    provedBy: [
      SHORT_FORM,
      {
        test: 'control-plane/routes/catalogue.store.test.ts',
        title: 'keeps the numbers in its metadata to the last digit, and takes none beyond the limits',
      },
    ],
  },
];
