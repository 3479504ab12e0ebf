import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODE_POINT } from '../../../tests/support/code-point.ts';
import type { UsageRequest } from '../engine.ts';
import { expectRecordsToMatch } from './engine-frame-part.ts';
import type { CreateEngineHarness } from './engine-harness.ts';
import {
  CUSTOMER,
  columnsOf,
  type EngineSession,
  type ItemResult,
  NOW_MS,
  SOUND,
  sessionForEachTest,
} from './engine-session.ts';

type Kind = UsageRequest['kind'];

/** Tokens on which JSON readers disagree or fall over (after the JSONTestSuite of N. Seriot). */
const TOKENS = [
  ...String.raw`{ } [ ] : , " \ \" \u \u0000 \ud800 \udc00 \ud83d\ude00 \x`.split(' '),
  ...'null true false nul NaN Infinity -Infinity'.split(' '),
  ...'- --1 +1 01 -01 1. .1 1e 1e+ 1E+2 0e0 1e400 -1e-400 1e-13 0x1 1_000 // /**/ [[[[[[[[ {"a":'.split(' '),
  ...'{} [] "" [,] [1,] {"a":1,} {"a":1,"a":2} {"__proto__":1} "__proto__" "constructor" "events"'.split(' '),
  ...'"properties" "value" "idempotencyKey" "customerId" "meterId" "occurredAt"'.split(' '),
  ...['123456789012345678901234567890', '0.1234567890123456789', "'a'"],
  ...['\u0000', '\u001f', '\n', '\r\n', ' ', '\ufeff', '\u2028'],
];

const KINDS = fc.constantFrom<Kind>('single', 'batch', 'ndjson');
const PIECES = fc.oneof(
  fc.constantFrom(...TOKENS).map((token) => Buffer.from(token)),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
);
const GARBAGE = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.array(PIECES, { maxLength: 20 }).map((pieces) => Buffer.concat(pieces)),
);

/** Values for a field: mostly such as belong there, else any JSON. */
const field = <T>(...likely: T[]) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<unknown>(...likely) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
const NUMBERS = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 0.1, 1e-12, 1e-13, 1e15),
);
const PROPERTY_VALUES = fc.oneof(fc.string({ unit: CODE_POINT }), NUMBERS, fc.boolean(), fc.jsonValue());
const ITEMS = fc.record(
  {
    idempotencyKey: fc.oneof(field('a', 'b', 'c', 'd'), fc.string({ maxLength: 4 })),
    customerId: field(CUSTOMER, 'acme', 'gone', 'nobody'),
    meterId: field('api_calls', 'users', 'fresh', 'old_calls'),
    value: fc.oneof(NUMBERS, fc.jsonValue()),
    occuredAt: fc.constant('2026-11-20T00:00:00Z'),
    occurredAt: field(...[0, 1, 2].map((days) => new Date(NOW_MS - days * 86_400_000).toISOString())),
    properties: fc.oneof(
      fc.dictionary(fc.string({ maxLength: 6 }), PROPERTY_VALUES, { maxKeys: 4 }),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: ['idempotencyKey', 'customerId', 'meterId', 'value'] },
);

export function engineFuzzTests(create: CreateEngineHarness): void {
  const session = sessionForEachTest(create);
  // A failure prints its seed and path; the seed is fixed so that every run does the same work.
  const runs = (numRuns: number) => ({ seed: 20261121, numRuns });

  /** Red when JSON or UTF-8 that does not parse is not caught. */
  test('arbitrary bytes are rejected or read, and never throw', async () => {
    await fc.assert(
      fc.asyncProperty(KINDS, GARBAGE, (kind, body) => expectSoundResponse(session(), kind, body)),
      runs(3_000),
    );
  });

  test('a valid body with bytes changed, cut out, doubled or put in never throws', async () => {
    const sound = [1, 2.5, 12345678901.5].map((value, index) => ({
      ...SOUND,
      value,
      idempotencyKey: `k${index}`,
      properties: { model: 'a"b\\\u{1f600}', size: 7, on: true },
      occurredAt: '2026-11-21T00:00:00.5+01:00',
    }));
    const bodies: Array<[Kind, Buffer]> = [
      ['single', Buffer.from(JSON.stringify(sound[0]))],
      ['batch', Buffer.from(JSON.stringify({ events: sound }))],
      ['ndjson', Buffer.from(sound.map((event) => JSON.stringify(event)).join('\n'))],
    ];
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(12), PIECES), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bodies), changes, ([kind, body], edits) => {
        const changed = edits.reduce((bytes, [at, cut, piece]) => {
          const from = at % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(from + cut)]);
        }, body);
        return expectSoundResponse(session(), kind, changed);
      }),
      runs(3_000),
    );
  });

  test('items of any kind: one line for each created one, and sent again they create nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: ITEMS }, fc.jsonValue()), { maxLength: 8 }),
        (items) => expectSoundResponse(session(), 'batch', Buffer.from(JSON.stringify({ events: items }))),
      ),
      runs(1_500),
    );
  });
}

async function expectSoundResponse(session: EngineSession, kind: Kind, body: Buffer): Promise<void> {
  session.putMeter({ key: 'users', property: 'a' });
  session.putMeter({ key: 'old_calls', archived: true });
  session.putCustomer({ id: 'cus_gggggggggggggggggggggggggg', externalId: 'gone', archived: true });
  const request = { kind, body, idempotencyKey: body.toString('hex').slice(0, 40), includeEvents: true };
  const sent = await session.send(request);
  expect(sent.status).toBeLessThan(500);
  expect(sent.body.toString()).not.toMatch(/\.[jt]s:\d|Error:|undefined/);
  expectRecordsToMatch(sent);
  const stored = sent.lines.map((line) => columnsOf(line).id);
  expect(stored).toEqual(createdIds(sent.status, sent.json, sent.replayed));
  expect(new Set(stored).size).toBe(stored.length);

  const again = await session.send(request);
  expect(again.commit).toBeUndefined();
  expect(again.status).toBe(sent.status);
  if (kind !== 'single' && sent.status === 200) {
    const accepted = (results: ItemResult[]) =>
      results.filter((one) => one.status !== 'error').map((one) => ({ ...one, status: 'duplicate' }));
    // A rejected item may get another reason now: its key may have been taken further on in the request.
    expect(accepted(again.json.results)).toEqual(accepted(sent.json.results));
    expect(again.json.summary.errors).toBe(sent.json.summary.errors);
  } else if (sent.status === 201) {
    expect([again.replayed, again.body]).toEqual([true, sent.body]);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: responses of three shapes
function createdIds(status: number, json: any, replayed: boolean): string[] {
  if (status === 201) return replayed ? [] : [json.id];
  if (status !== 200) return [];
  const results = json.results as ItemResult[];
  return results.filter((one) => one.status === 'created').map((one) => one.eventId ?? '');
}
