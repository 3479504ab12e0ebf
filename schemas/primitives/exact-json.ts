import { canonicalDecimal } from './decimal.ts';

/**
 * JSON whose numbers keep their own text, so that no double rounds them: 123456789.000000000001 comes back
 * as it was sent. Such a number is text with a NUL in front as its mark: no text of a client may contain a
 * NUL, so the mark is unambiguous. Nothing here recurses: JSON may be nested a hundred thousand deep.
 */
export type ExactNumber = string & { readonly exact: true };

/** Marks the text of a JSON number. Throws if it is none: nothing else may be printed without quotes. */
export function exactNumber(text: string): ExactNumber {
  if (!NUMBER.test(text)) throw new TypeError(`not the text of a JSON number: ${JSON.stringify(text)}`);
  return `${MARK}${text}` as ExactNumber;
}

/** The text of a number marked by {@link exactNumber} or {@link parseExact}; undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined;
}

/** The value as JSON: marked numbers bare, undefined fields left out, a Map as an object in its own order. */
export function exactJson(value: unknown): string {
  return print(value, scalarJson, (entries) => entries);
}

/** The same in parts: each call prints so many values more, and the last one returns the text. */
export function beginExactJson(value: unknown): (values: number) => string | undefined {
  return printing(value, scalarJson, (entries) => entries);
}

/**
 * One text for all ways of writing the same value: names sorted, numbers as plain decimals. For comparing.
 */
export function canonicalJson(json: string): string {
  return print(parseExact(json), canonicalScalar, (entries) => entries.sort(byName));
}

/**
 * Like JSON.parse, but every number is marked text. The texts in it must be free of NUL; see {@link
 * faultyText}.
 */
export function parseExact(json: string): unknown {
  const marked = json.replace(STRING_OR_NUMBER, (token) => (token[0] === '"' ? token : `"\\u0000${token}"`));
  return JSON.parse(marked);
}

/**
 * The first text (a name or a value) with U+0000 or an unpaired surrogate; undefined if there is
 * none.
 */
export function faultyText(root: unknown): string | undefined {
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string' && !isSound(value)) return value;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) for (const inner of value) rest.push(inner);
    else for (const [name, inner] of Object.entries(value)) rest.push(name, inner);
  }
  return undefined;
}

const MARK = '\u0000';
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Only for a text that is known to be JSON, or is parsed afterwards. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*/g;

type Entries = Array<[string, unknown]>;

/** An array or object that is being printed. */
interface Container {
  /** Undefined for an array. */
  names: string[] | undefined;
  values: unknown[];
  /** How many are printed. */
  done: number;
}

function print(
  root: unknown,
  scalar: (value: unknown) => string,
  order: (entries: Entries) => Entries,
): string {
  return printing(root, scalar, order)(Number.POSITIVE_INFINITY) ?? '';
}

/** Prints so many values more with each call; the text when all of them are printed. */
function printing(
  root: unknown,
  scalar: (value: unknown) => string,
  order: (entries: Entries) => Entries,
): (values: number) => string | undefined {
  let printed = '';
  const open: Container[] = [];
  const begin = (value: unknown) => {
    if (typeof value !== 'object' || value === null) {
      printed += scalar(value);
      return;
    }
    const container = containerOf(value, order);
    printed += container.names ? '{' : '[';
    open.push(container);
  };
  begin(root);
  return (values) => {
    let left = values;
    for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
      const { names, values, done } = inner;
      if (done === values.length) {
        printed += names ? '}' : ']';
        open.pop();
        continue;
      }
      if (left === 0) return undefined;
      left -= 1;
      if (done > 0) printed += ',';
      if (names) printed += `${JSON.stringify(names[done])}:`;
      inner.done += 1;
      begin(values[done]);
    }
    return printed;
  };
}

function containerOf(value: object, order: (entries: Entries) => Entries): Container {
  if (Array.isArray(value)) return { names: undefined, values: value, done: 0 };
  const entries: Entries = value instanceof Map ? [...value] : Object.entries(value);
  const kept = order(entries.filter(([, inner]) => inner !== undefined));
  return { names: kept.map(([name]) => name), values: kept.map(([, inner]) => inner), done: 0 };
}

function scalarJson(value: unknown): string {
  const number = numberText(value);
  if (number === undefined) return JSON.stringify(value) ?? 'null';
  return NUMBER.test(number) ? number : JSON.stringify(value);
}

function canonicalScalar(value: unknown): string {
  const number = numberText(value);
  return number === undefined ? scalarJson(value) : (canonicalDecimal(number) ?? number);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function isSound(text: string): boolean {
  return text.isWellFormed() && !text.includes(MARK);
}
