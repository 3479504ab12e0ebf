import type { Random } from '../../support/random.ts';

/** Texts to stand where a JSON value is expected: many are none, and most of the others mean no good. */
export function fuzzValue(random: Random): string {
  const kind = random.below(100);
  if (kind < 30) return random.pick(NUMBERS);
  if (kind < 55) return random.pick(TEXTS);
  if (kind < 70) return random.pick(SHAPES);
  if (kind < 80) return random.pick(TIMES);
  return kind < 98 ? random.pick(NOT_JSON) : nested(random, 1 + random.below(3_000));
}

/** So many arrays or objects inside each other, most of them closed again. */
export function nested(random: Random, depth: number): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"__proto__":', '}]'],
  ] as const);
  const inside = random.pick(['', 'null', '1e400', '"\\ud800"']);
  const core = open === '[' ? inside : inside || '0';
  return open.repeat(depth) + core + close.repeat(random.chance(0.9) ? depth : random.below(depth));
}

const NUMBERS = [
  ...'0 -0 -0.0 1 -1 0.1 1e2 1E+2 1e-2 1.50 -2.5e0 0e0 0e999999999999 -0e-99999999999999999999'.split(' '),
  ...'1e400 -1e400 1e-400 1e309 1.7976931348623157e308 5e-324 1e99999999999999999999'.split(' '),
  ...'1e14 1e15 999999999999999 1000000000000000 999999999999999.999999999999 1e-12 1e-13'.split(' '),
  ...'0.1234567890123 123456789.000000000001 9007199254740993 1.0000000000000000000 2e-1'.split(' '),
  ...'0.30000000000000004 0.3333333333333333 2.0000000000005 99.9999999999999999 1e-07'.split(' '),
  ...[`1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`, `${'0.'}${'0'.repeat(400)}1e401`, '9'.repeat(400)],
];

const NOT_JSON = [
  ...'NaN Infinity -Infinity undefined nul tru True 0x10 01 -01 1. .5 +1 1e 1e+ --1 1_000 1,2 - [1,]'.split(
    ' ',
  ),
  ...['{"a":1,}', "'a'", '`a`', '"unclosed', '"\\x41"', '"\\u12"', '"\\ud80"', '"a\nb"', '"\t"', '"\0"', ''],
  ...['/**/1', '1//', '#1', '<a/>', '(1)', '{a:1}', '{1:1}', '[1 2]', '"a" "b"', '\ufeff1', '\u00a01', '１'],
];

const SOUND_TEXTS = [
  ...['', ' ', '.', '..', '/', '%2e%2e', '%00', '__proto__', 'constructor', 'toString', 'events', 'null'],
  ...['a b', "'; DROP TABLE events; --", '{{7*7}}', '$' + '{7*7}', '<script>', '\u2028', '\ufeff', '\uffff'],
  ...[
    'ä',
    'a\u0308',
    '\u{1f600}',
    '\u{10ffff}',
    '\u007f',
    '\u0085',
    '-1',
    '1e400',
    'NaN',
    'true',
    '=',
    '\\N',
  ],
  ...['x'.repeat(64), 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(255), 'x'.repeat(256), 'x'.repeat(257)],
  ...['\u{1f600}'.repeat(64), '\u{1f600}'.repeat(65), `cus_${'a'.repeat(26)}`, `meter_${'a'.repeat(26)}`],
].map((text) => JSON.stringify(text));

/** And JSON of texts that nobody can store, or that are spelled in another way. */
const TEXTS = [
  ...SOUND_TEXTS,
  ...['"\\u0000"', '"a\\u0000b"', '"\\u0000#1"', '"\\ud800"', '"\\udc00"', '"x\\ud83d"', '"\\ude00\\ud83d"'],
  ...['"\\ud83d\\ude00"', '"\\u006b"', '"\\/"', '"\\n"', '"\\u001f"', '"\\u007f"', '"\\b\\f"'],
];

const SHAPES = [
  ...['null', 'true', 'false', '[]', '{}', '[[]]', '[1]', '["a"]', '{"a":1}', '{"a":{}}', '{"a":null}'],
  ...['{"__proto__":{"value":1}}', '{"__proto__":"x"}', '{"constructor":{"prototype":{}}}', '{"toJSON":1}'],
  ...['{"":1}', '{"a":1,"a":"2"}', '{"a":1e400}', '{"a":1e-13}', '{"a":"\\ud800"}', '{"\\udc00":1}'],
  ...['{"a\\u0000":1}', '{"a":-0}', '{"a":1.50,"b":true,"c":"x"}', '{"length":-1}', '{"a":[1]}', '{"0":"x"}'],
  `{"${'k'.repeat(64)}":1}`,
  `{"${'k'.repeat(65)}":1}`,
  `{"a":"${'v'.repeat(256)}"}`,
  `{"a":"${'v'.repeat(257)}"}`,
  `{${Array.from({ length: 32 }, (_, at) => `"p${at}":${at}`).join()}}`,
  `{${Array.from({ length: 33 }, (_, at) => `"p${at}":${at}`).join()}}`,
];

const TIMES = [
  ...[
    '2026-10-01T00:00Z',
    '2026-10-01 00:00:00.5+0130',
    '2026-10-01T00:00:00.1234567890Z',
    '2026-10-01 00:00',
  ],
  ...['2026-02-29T00:00:00Z', '2024-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01', 'now', '0', '-1'],
  ...['2026-01-01T00:00:00', '2026-01-01T24:00:00Z', '2026-01-01T23:59:60Z', '2026-01-01 00:00:00Z'],
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '+292278994-01-01T00:00:00Z', '275760-09-13T00:00:00Z'],
  ...['2026-01-01T00:00:00+24:00', '2026-01-01T00:00:00.Z', `2026-01-01T00:00:00.${'1'.repeat(50)}Z`],
].map((text) => JSON.stringify(text));
