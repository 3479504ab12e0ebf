import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ESCAPE = /<(?:([0-9a-f]{2})|U\+([0-9A-F]{4,6})|(\d+) times (.+?)|nothing)>/;

/**
 * The rows of a table next to this file: a heading and its entries with ` | ` between them; a row may
 * continue in indented lines. In an entry `<ff>` is a byte, `<U+2028>` a character, `<3 times ab>` is ababab,
 * and `<nothing>` the empty text.
 */
export function readTable(name: string): Array<[heading: string, entries: Buffer[]]> {
  const text = readFileSync(join('tests', 'faults', 'fuzz', name), 'utf8').trimEnd();
  return text.split(/\n(?! )/).map((row) => {
    const [heading = '', ...entries] = row.replaceAll(' |\n  ', ' | ').split(' | ');
    return [heading, entries.map(bytesOf)];
  });
}

const FUZZ_VALUES = new Map(readTable('fuzz-values.txt'));

/** Entries of fuzz-values.txt. */
export function fuzzEntries(heading: string): Buffer[] {
  const entries = FUZZ_VALUES.get(heading);
  if (!entries) throw new Error(`fuzz-values.txt has no group "${heading}"`);
  return entries;
}

/** The same as texts. */
export function fuzzTexts(heading: string): string[] {
  return fuzzEntries(heading).map((entry) => entry.toString());
}

function bytesOf(entry: string): Buffer {
  const found = ESCAPE.exec(entry);
  if (!found) return Buffer.from(entry);
  const [whole, byte, codePoint, times, unit = ''] = found;
  const meant =
    byte !== undefined
      ? Buffer.from(byte, 'hex')
      : Buffer.from(
          codePoint ? String.fromCodePoint(Number.parseInt(codePoint, 16)) : unit.repeat(Number(times ?? 0)),
        );
  const rest = bytesOf(entry.slice(found.index + whole.length));
  return Buffer.concat([Buffer.from(entry.slice(0, found.index)), meant, rest]);
}
