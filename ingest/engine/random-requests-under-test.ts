import fc from 'fast-check';
import { CUSTOMER, NOW_MS } from '../../infra/ports/conformance/engine-session.ts';
import type { UsageRequest } from '../../infra/ports/engine.ts';

/** Random requests of usage events, most of them sound, for comparing engines. */
const DAY_MS = 86_400_000;

/** JSON texts of each field as clients write them; each is put into the body unchanged. */
const SPACE = fc.constantFrom('', '', '', '', ' ', '\t', '\n ', '\r');
/** A computed double is mostly printed with 17 digits; the wasm engine rounds them as the js engine does. */
const DOUBLES = fc
  .oneof(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.nat(10_000).map((units) => (units / 1000) * 0.1),
  )
  .map((double) => JSON.stringify(double))
  .filter((text) => !text.includes('e'));
const DECIMALS = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^-?(0|[1-9][0-9]{0,7})(\.[0-9]{1,5})?$/) },
  DOUBLES,
);
const VALUES = fc.oneof(fc.constantFrom('"x"', '"y"', '""', '"Zürich 😀"', 'true', 'false'), DECIMALS);
const MEMBERS = fc.tuple(fc.constantFrom('"model"', '"user"', '"size"', '"a"', '"2"', '"__proto__"'), VALUES);
/** Names that are the same for a while, in any order, now and then one twice. `!` comes before a quote. */
const ALIKE = fc
  .tuple(
    fc.constantFrom('', 'seven_b', 'eight_by', 'x'.repeat(14), 'x'.repeat(60)),
    fc.stringMatching(/^[abC!]{1,4}$/),
  )
  .map(([beginning, end]) => `"${beginning}${end}"`);
const MANY_ALIKE = fc.oneof(
  { weight: 9, arbitrary: fc.uniqueArray(ALIKE, { minLength: 2, maxLength: 33 }) },
  fc.array(ALIKE, { minLength: 2, maxLength: 4 }),
);
const PROPERTIES = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.uniqueArray(MEMBERS, { maxLength: 4, selector: ([key]) => key }) },
      MANY_ALIKE.map((names) => names.map((name, at): [string, string] => [name, `${at}`])),
    ),
    SPACE,
  )
  .map(([members, space]) => objectOf(members, space));
/** As most clients write them, and as Python does. */
const ZONES = ['Z', 'Z', 'Z', '123Z', '+00:00', '123+00:00', '+05:30', '-12:00'];
const SOUND: Record<string, fc.Arbitrary<string>> = {
  customerId: fc.constantFrom(`"${CUSTOMER}"`, '"acme"', '"other"'),
  meterId: fc.constantFrom('"api_calls"', '"users"', '"seats"'),
  value: DECIMALS,
  idempotencyKey: fc.nat(8_000).map((key) => `"key-${key}"`),
  occurredAt: fc
    .tuple(fc.integer({ min: DAY_MS, max: 40 * DAY_MS }), fc.constantFrom(...ZONES))
    .map(([ms, zone]) => `"${new Date(NOW_MS - ms).toISOString().replace('Z', zone)}"`),
  properties: PROPERTIES,
};

/** And as they get them wrong, or nearly so. */
const NUMBERS = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,15})?$/),
  // Around the middle between two units, and with nines to carry over.
  fc.stringMatching(
    /^-?(0|9|[1-9][0-9]{0,14})\.(000000000000|[09]{12}|[0-9]{11}[0-9])(5|50|49|51|9{1,4})0{0,2}$/,
  ),
  fc.stringMatching(/^-?[1-9][0-9]{13,15}(\.[0-9]{10,14})?$/),
  fc.constantFrom(...'-0 -0.0 0.000 -0.10 1e3 1E-3 01 1. .5 +1 - "1" null 1.2.3 1234567890123456'.split(' ')),
);
const CHARACTERS = 'abcXYZ019 -_.:/{}[],é€😀\u007f\u0085\u2028';
const TEXTS = fc
  .array(fc.constantFrom(...CHARACTERS, '\\n', '\\u0041', '\\"', '\\u0000'), { maxLength: 6 })
  .map((characters) => `"${characters.join('')}"`);
const LONG_TEXTS = fc.constantFrom(64, 65, 128, 129, 255, 256, 257).map((chars) => `"${'k'.repeat(chars)}"`);
const TIMES = fc.oneof(
  fc.stringMatching(/^"202[4568]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?Z"$/),
  fc.stringMatching(/^"20(26-11|19-12)-[0-3][0-9]T10:00:00(\.[0-9]{1,10})?[+-][0-2][0-9]:[0-6][0-9]"$/),
  fc.constantFrom(
    '"1970-01-01T00:30:00+01:00"',
    '"2026-11-20T10:00:00.+01:00"',
    '"2026-11-20T10:00:00+24:00"',
  ),
  fc.constantFrom('"2026-11-20T10:00:00+01:00"', '"2026-02-29T00:00:00Z"', '"2024-02-29T00:00:00Z"'),
  fc.constantFrom('null', '"2026-11-20 10:00:00Z"', '"2026-11-20T10:00Z"', '"2026-11-20T10:00:00+0000"'),
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
      '{"a":null}',
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
    if (kind === 1) fields.push([`"${edge}"`, texts[edge] ?? '']);
    if (kind < 3) fields.push(['"occuredAt"', '"2026-11-20T10:00:00Z"']);
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
const MUTANTS = fc.oneof(
  { weight: 9, arbitrary: fc.constant('\n') },
  fc.constantFrom('\n\n', '\r\n', ' ', ''),
);
const LISTS = fc
  .tuple(fc.boolean(), fc.array(ITEMS, { minLength: 1, maxLength: 4 }), fc.tuple(SPACE, MUTANTS, ENDS))
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
  .map(([item, place, header, [space, end]]) => {
    // As most clients write them a single event has no key in its body.
    const body = Buffer.from(`${space}${place < 4 ? item : item.replace(BODY_KEY, '')}${end}`);
    const own = /"idempotencyKey"\s*:\s*"(key-\d+)"/.exec(item)?.[1];
    const idempotencyKey = place === 0 ? undefined : place === 1 ? own : place === 2 ? '' : header;
    return { kind: 'single' as const, body, idempotencyKey };
  });
const BODY_KEY = /\s*,\s*"idempotencyKey"\s*:\s*"key-\d+"|"idempotencyKey"\s*:\s*"key-\d+"\s*,/;
const MARK = Buffer.from('\ufeff');
export const REQUESTS: fc.Arbitrary<Sent> = fc
  .tuple(fc.oneof(LISTS, SINGLES), fc.nat(3), fc.boolean(), fc.nat(9))
  .map(([request, strict, numbersAsText, marked]) => {
    const body = marked === 0 ? Buffer.concat([MARK, request.body]) : request.body;
    return { ...request, body, isStrict: strict === 0, numbersAsText };
  });

export type Sent = Pick<UsageRequest, 'kind' | 'body' | 'idempotencyKey' | 'isStrict' | 'numbersAsText'>;

function fieldsOf(names: string[], texts: Record<string, string>): Array<[string, string]> {
  return names.map((name) => [`"${name}"`, texts[name] ?? '']);
}

function objectOf(members: Array<[string, string]>, space: string): string {
  return `{${members.map(([name, value]) => `${space}${name}${space}:${value}`).join(`${space},`)}${space}}`;
}
