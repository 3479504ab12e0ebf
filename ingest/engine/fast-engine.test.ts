import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { engineConformance } from '../../infra/conformance/engine.ts';
import type { EngineHarness } from '../../infra/conformance/engine-harness.ts';
import { CUSTOMER, ENVIRONMENT, NOW_MS, REQUEST_ID } from '../../infra/conformance/engine-session.ts';
import type { CommitPart, UsageRequest } from '../../infra/ports/engine.ts';
import { createEngineHarness } from './engine-under-test.ts';
import { createFastDoor } from './fast-door.ts';
import { createFastEngine } from './fast-engine.ts';
import { createPlainEngine } from './plain-engine.ts';

engineConformance('the fast engine', () => createEngineHarness(createFastEngine));

const DAY_MS = 86_400_000;

/** JSON texts of each field as clients write them; each is put into the body as it stands. */
const SPACE = fc.constantFrom('', '', '', '', ' ', '\t', '\n ', '\r');
const DECIMALS = fc.stringMatching(/^-?(0|[1-9][0-9]{0,7})(\.[0-9]{1,5})?$/);
const VALUES = fc.oneof(fc.constantFrom('"x"', '"y"', '""', '"Zürich 😀"', 'true', 'false'), DECIMALS);
const MEMBERS = fc.tuple(fc.constantFrom('"model"', '"user"', '"size"', '"a"', '"2"', '"__proto__"'), VALUES);
const PROPERTIES = fc
  .tuple(fc.uniqueArray(MEMBERS, { maxLength: 4, selector: ([key]) => key }), SPACE)
  .map(([members, space]) => objectOf(members, space));
const SOUND: Record<string, fc.Arbitrary<string>> = {
  customerId: fc.constantFrom(`"${CUSTOMER}"`, '"acme"', '"other"'),
  meterId: fc.constantFrom('"api_calls"', '"users"'),
  value: DECIMALS,
  idempotencyKey: fc.nat(8_000).map((key) => `"key-${key}"`),
  occurredAt: fc.nat(40 * DAY_MS).map((ms) => `"${new Date(NOW_MS - ms).toISOString()}"`),
  properties: PROPERTIES,
};

/** And as they get them wrong, or nearly so. */
const NUMBERS = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,15})?$/),
  fc.constantFrom(...'-0 -0.0 0.000 -0.10 1e3 1E-3 01 1. .5 +1 - "1" null 1.2.3 1234567890123456'.split(' ')),
);
const CHARACTERS = 'abcXYZ019 -_.:/{}[],é€😀\u007f\u0085\u2028';
const TEXTS = fc
  .array(fc.constantFrom(...CHARACTERS, '\\n', '\\u0041', '\\"', '\\u0000'), { maxLength: 6 })
  .map((characters) => `"${characters.join('')}"`);
const LONG_TEXTS = fc.constantFrom(64, 65, 128, 129, 255, 256, 257).map((chars) => `"${'k'.repeat(chars)}"`);
const TIMES = fc.oneof(
  fc.stringMatching(/^"202[4568]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z"$/),
  fc.constantFrom('"2026-11-20T10:00:00+01:00"', '"2026-02-29T00:00:00Z"', '"2024-02-29T00:00:00Z"'),
  fc.constantFrom('"1969-12-31T23:59:59Z"', '"2026-11-20t10:00:00z"', '"2026-11-20T10:00:00.Z"', '""', '7'),
);
const EDGES: Record<string, fc.Arbitrary<string>> = {
  customerId: fc.oneof(fc.constantFrom('"nobody"', '"gone"', '""', 'null', '"acme\u007f"'), LONG_TEXTS),
  meterId: fc.oneof(fc.constantFrom('"fresh"', '"meter_x"', '"old_calls"', '"é"', '{}'), LONG_TEXTS),
  value: NUMBERS,
  idempotencyKey: fc.oneof(TEXTS, LONG_TEXTS, fc.constantFrom('null', '7')),
  occurredAt: TIMES,
  properties: fc.oneof(
    fc.constantFrom(
      'null',
      '[]',
      '{"a":{}}',
      '{"a":1,"a":2}',
      '{"～":1,"😀":2}',
      '{,}',
      '{"a":1,}',
      '{"":1}',
    ),
    fc.tuple(fc.oneof(TEXTS, LONG_TEXTS), NUMBERS).map((member) => objectOf([member], '')),
    fc.tuple(TEXTS, fc.oneof(TEXTS, LONG_TEXTS)).map((member) => objectOf([member], '')),
    fc.constantFrom(32, 33).map((count) =>
      objectOf(
        Array.from({ length: count }, (_, at) => [`"p${at}"`, '1']),
        '',
      ),
    ),
  ),
};
const NAMES = Object.keys(SOUND);
const SOUND_ITEMS = fc.tuple(fc.shuffledSubarray(NAMES, { minLength: 6 }), fc.record(SOUND), SPACE);
/** One field gone wrong, left out, or a member too many: the rest of the item is sound. */
const EDGY_ITEMS = fc
  .tuple(SOUND_ITEMS, fc.constantFrom(...NAMES), fc.record(EDGES), fc.nat(9))
  .map(([[names, texts, space], edge, edges, kind]) => {
    const kept = kind === 0 ? names.filter((name) => name !== edge) : names;
    const fields = fieldsOf(kept, { ...texts, [edge]: edges[edge] ?? '' });
    if (kind === 1) fields.push([`"${edge}"`, texts[edge] ?? ''], ['"more"', '{}']);
    return objectOf(fields, space);
  });
const ITEMS = fc.oneof(
  {
    weight: 3,
    arbitrary: SOUND_ITEMS.map(([names, texts, space]) => objectOf(fieldsOf(names, texts), space)),
  },
  EDGY_ITEMS,
);
const ENDS = fc.oneof(
  { weight: 20, arbitrary: SPACE },
  fc.constantFrom(' x', '{}', ',', '\0', '\n\n', ' \n '),
);
const BREAKS = fc.oneof(
  { weight: 9, arbitrary: fc.constant('\n') },
  fc.constantFrom('\n\n', '\r\n', ' ', ''),
);
const LISTS = fc
  .tuple(fc.boolean(), fc.array(ITEMS, { minLength: 1, maxLength: 4 }), fc.tuple(SPACE, BREAKS, ENDS))
  .map(([isBatch, items, [space, lineBreak, end]]) => {
    const batch = `{${space}"events"${space}:[${items.join(`,${space}`)}]}${end}`;
    const body = Buffer.from(isBatch ? batch : `${items.join(`${space}${lineBreak}`)}${end}`);
    return { kind: isBatch ? ('batch' as const) : ('ndjson' as const), body };
  });
const HEADER_KEYS = fc.oneof(
  { weight: 6, arbitrary: fc.nat(500).map((key) => `key-${key}`) },
  fc.constantFrom('', ' ', '"', '\\', '\t', '\u007f', '\u0085', '\u20ac', 'k'.repeat(255), 'k'.repeat(256)),
);
const SINGLES = fc
  .tuple(ITEMS, fc.nat(9), fc.option(HEADER_KEYS, { nil: undefined, freq: 20 }), fc.tuple(SPACE, ENDS))
  .map(([item, withKey, idempotencyKey, [space, end]]) => {
    // As clients write them a single event has no key in its body.
    const body = Buffer.from(`${space}${withKey === 0 ? item : item.replace(BODY_KEY, '')}${end}`);
    return { kind: 'single' as const, body, idempotencyKey };
  });
const BODY_KEY = /\s*,\s*"idempotencyKey"\s*:\s*"key-\d+"|"idempotencyKey"\s*:\s*"key-\d+"\s*,/;
const REQUESTS: fc.Arbitrary<Sent> = fc.oneof(LISTS, SINGLES);

type Sent = Pick<UsageRequest, 'kind' | 'body' | 'idempotencyKey'>;

function fieldsOf(names: string[], texts: Record<string, string>): Array<[string, string]> {
  return names.map((name) => [`"${name}"`, texts[name] ?? '']);
}

function objectOf(members: Array<[string, string]>, space: string): string {
  return `{${members.map(([name, value]) => `${space}${name}${space}:${value}`).join(`${space},`)}${space}}`;
}

describe('the two doors', () => {
  /**
   * Red when the fast door takes what is not its own, or writes one byte otherwise: tried with zeros or the
   * minus of a zero kept, properties unsorted or doubled, U+007F in a key, 18 digits, 29 February in any
   * year, keys beyond ASCII sorted by bytes, and bytes behind the end.
   */
  test('write the same answers, records and lines for the same requests', async () => {
    const [plain, fast] = await twoEngines();
    const door = createFastDoor();
    let taken = 0;
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(REQUESTS, async (request) => {
        sent++;
        if (door.read(request) > 0) taken++;
        expect(await exchange(fast, request)).toEqual(await exchange(plain, request));
        // Again: now it is a replay of what was created.
        expect(await exchange(fast, request)).toEqual(await exchange(plain, request));
      }),
      { numRuns: 5_000, seed: 20261121 },
    );
    expect(taken / sent).toBeGreaterThan(0.4);
  });

  /** Red when a day of the calendar, or a digit, is written otherwise than Date does. */
  test('answer every moment of the last year alike', async () => {
    const engines = await twoEngines();
    const moments = fc.nat(399 * DAY_MS).map((ms) => new Date(NOW_MS - ms).toISOString());
    let key = 0;
    await fc.assert(
      fc.asyncProperty(moments, async (occurredAt) => {
        const body = Buffer.from(
          soundItem('').replace('"idempotencyKey":""', `"occurredAt":"${occurredAt}"`),
        );
        const request = { kind: 'single' as const, body, idempotencyKey: `moment-${key++}` };
        const [plain, fast] = await Promise.all(engines.map((engine) => exchange(engine, request)));
        expect(fast).toEqual(plain);
        expect(plain).toMatchObject({ status: 201, body: expect.stringContaining(occurredAt) });
      }),
      { numRuns: 1_000, seed: 20261122 },
    );
  });

  /**
   * Red when the texts of pairs may end where the memory ends: a copy reads up to seven bytes more. With
   * these lengths the 65,536th pair ended there, and its keys were claimed by then.
   */
  test('every pair of a full memory is written, the last one too', async () => {
    const [, fast] = await twoEngines();
    const customers = Array.from({ length: 65_536 }, (_, at) => `cus_${String(at).padStart(26, 'a')}`);
    fast.putMeter({ key: 'tokens' });
    for (const id of customers) fast.putCustomer({ id });
    for (let from = 0; from < customers.length; from += 256) {
      const items = customers.slice(from, from + 256).map((id) => soundItem(id, id, 'tokens'));
      const request = { kind: 'batch' as const, body: Buffer.from(`{"events":[${items.join(',')}]}`) };
      // First the plain engine's, which looks up the names; then the fast one's.
      await fast.engine.read(requestOf(request));
      const made = await exchange(fast, request);
      expect(made).toMatchObject({ status: 200, eventCount: 256 });
    }
  });

  /** Red when the keys stay claimed: a retry is acknowledged as a duplicate of what was never written. */
  test.each([
    ['plain', true, 'from'],
    ['fast', false, 'allocUnsafe'],
  ] as const)('keys that the %s engine claimed are free again when it cannot write', async (...given) => {
    const [, includeEvents, maker] = given;
    const [, { engine, commit }] = await twoEngines();
    const batch = (value: number) => ({
      ...requestOf({
        kind: 'batch',
        body: Buffer.from(`{"events":[${soundItem('k').replace('1}', `${value}}`)}]}`),
      }),
      includeEvents,
    });
    await engine.read(batch(1));
    const reading = await engine.read(batch(1));
    vi.spyOn(Buffer, maker).mockImplementationOnce(() => {
      throw new RangeError('out of memory');
    });
    expect(() => engine.decide(reading)).toThrow(RangeError);
    const retried = engine.decide(await engine.read(batch(2)));
    expect(retried.answer.body.toString()).toContain('"created":1');
    await commit(retried.commit as CommitPart);
  });

  /** Red when a reading is decided from a memory that holds another one by now. */
  test('a reading that was overtaken by another is decided as if it came alone', async () => {
    const [plain, fast] = await twoEngines();
    const bodies = ['one', 'two'].map((key) => Buffer.from(`{"events":[${soundItem(key)}]}`));
    // Until its names are known, a request is the plain engine's.
    await fast.engine.read(
      requestOf({ kind: 'batch', body: Buffer.from(`{"events":[${soundItem('first')}]}`) }),
    );
    const readings = await Promise.all(
      bodies.map((body) => fast.engine.read(requestOf({ kind: 'batch', body }))),
    );
    const decided = readings.map((reading) => fast.engine.decide(reading));
    for (const [index, body] of bodies.entries()) {
      const alone = plain.engine.decide(await plain.engine.read(requestOf({ kind: 'batch', body })));
      expect(decided[index]?.answer.body.toString()).toBe(alone.answer.body.toString());
      expect(decided[index]?.commit?.lines.toString()).toBe(alone.commit?.lines.toString());
    }
  });
});

async function twoEngines(): Promise<[EngineHarness, EngineHarness]> {
  const engines = [
    await createEngineHarness(createPlainEngine),
    await createEngineHarness(createFastEngine),
  ] as const;
  for (const engine of engines) {
    onTestFinished(() => engine.close());
    engine.setNow(NOW_MS);
    engine.putCustomer({ id: CUSTOMER, externalId: 'acme' });
    engine.putCustomer({ id: 'cus_oooooooooooooooooooooooooo', externalId: 'other' });
    engine.putCustomer({ id: 'cus_gggggggggggggggggggggggggg', externalId: 'gone', archived: true });
    engine.putMeter({ key: 'api_calls' });
    engine.putMeter({ key: 'users', property: 'user' });
    engine.putMeter({ key: 'old_calls', archived: true });
  }
  return [...engines];
}

function soundItem(key: string, customer: string = CUSTOMER, meter = 'api_calls'): string {
  return `{"idempotencyKey":"${key}","customerId":"${customer}","meterId":"${meter}","value":1}`;
}

function requestOf(request: Sent): UsageRequest {
  return { environment: ENVIRONMENT, includeEvents: false, requestId: REQUEST_ID, ...request };
}

/** What a request makes of itself, as text where bytes would be hard to read. */
async function exchange(harness: EngineHarness, request: Sent): Promise<object> {
  const { answer, commit } = harness.engine.decide(await harness.engine.read(requestOf(request)));
  const made = {
    status: answer.status,
    replayed: answer.replayed,
    body: answer.body.toString(),
    eventCount: commit?.eventCount,
    records: commit && Buffer.from(commit.records).toString('hex'),
    lines: commit && Buffer.from(commit.lines).toString(),
    touched: commit?.touched.map((span) => JSON.stringify(span)).sort(),
    waits: commit?.claim.waits,
  };
  if (commit) await harness.commit(commit);
  return made;
}
