import type { Random } from '../../support/random.ts';
import { fuzzTexts } from './text-table.ts';

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

const NUMBERS = fuzzTexts('numbers');
const NOT_JSON = fuzzTexts('not JSON');
const TIMES = fuzzTexts('times').map((text) => JSON.stringify(text));
/** The second kind cannot be stored, or is spelled in another way. */
const TEXTS = [...fuzzTexts('texts').map((text) => JSON.stringify(text)), ...fuzzTexts('texts as JSON')];
const SHAPES = [
  ...fuzzTexts('shapes'),
  ...[32, 33].map((count) => `{${Array.from({ length: count }, (_, at) => `"p${at}":${at}`).join()}}`),
];
