import type { Statement } from '../ports/warehouse.ts';

type Value = string | number | string[];

const PLACE = /\{([A-Za-z_]\w*):([^{}]+)\}/g;

/**
 * Puts values into the places `{name:Type}` of a statement as quoted literals, cast to the type that is
 * named.
 *
 * chdb can bind parameters itself, but its driver lets only one statement with parameters run in a whole
 * process: a counter would wait for the longest breakdown.
 */
export function inlineParameters(sql: string, params: Statement['params'] = {}): string {
  return sql.replace(PLACE, (_, name: string, type: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`No value for the parameter ${name}.`);
    return type.trim() === 'String' ? literal(value) : `CAST(${literal(value)} AS ${type})`;
  });
}

function literal(value: Value): string {
  return Array.isArray(value) ? `[${value.map(quoted).join(',')}]` : quoted(String(value));
}

/** Backslash, quote and every control character are escaped: nothing in a text can end it. */
function quoted(text: string): string {
  return `'${text.toWellFormed().replace(NEEDS_ESCAPE, escaped)}'`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what needs an escape
const NEEDS_ESCAPE = /[\\'\u0000-\u001f\u007f]/g;

function escaped(character: string): string {
  if (character === '\\' || character === "'") return `\\${character}`;
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
