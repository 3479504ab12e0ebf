import { gunzipSync } from 'node:zlib';

/**
 * JSON as the judge reads it: every text, names too, begins with `$`, and every number is its own text behind
 * `#`. So nothing can be taken for something else, whatever a client wrote, and no double rounds anything.
 */
export type Tagged = null | boolean | string | Tagged[] | { [name: string]: Tagged };

/** Undefined when the bytes are no JSON in UTF-8. A byte order mark is none. */
export function readTagged(bytes: Uint8Array): { value: Tagged } | undefined {
  try {
    const text = UTF_8.decode(bytes);
    JSON.parse(text);
    return { value: JSON.parse(text.replace(STRING_OR_NUMBER, tagged)) as Tagged };
  } catch {
    return undefined;
  }
}

/** The text at the current position, or undefined. */
export function textOf(value: Tagged | undefined): string | undefined {
  return typeof value === 'string' && value.startsWith('$') ? value.slice(1) : undefined;
}

/** The number's own text. */
export function numberOf(value: Tagged | undefined): string | undefined {
  return typeof value === 'string' && value.startsWith('#') ? value.slice(1) : undefined;
}

/** By the name that the client wrote. */
export function memberOf(object: Record<string, Tagged>, name: string): Tagged | undefined {
  return Object.hasOwn(object, `$${name}`) ? object[`$${name}`] : undefined;
}

export function isTaggedObject(value: Tagged | undefined): value is Record<string, Tagged> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Half of a surrogate pair, or U+0000: what nobody can store. */
export function isUnsound(text: string): boolean {
  return /\p{Surrogate}|\0/u.test(text);
}

/** True when a name or a text anywhere inside is unsound. */
export function hasUnsoundText(root: Tagged): boolean {
  const rest: Tagged[] = [root];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === 'string' && isUnsound(value)) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.keys(value).some(isUnsound)) return true;
    for (const inner of Object.values(value)) rest.push(inner);
  }
  return false;
}

/** What gzip holds, at most so many bytes; undefined when it is no gzip. */
export function inflated(bytes: Buffer, bytesMax: number): Buffer | 'too large' | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : undefined;
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** In a text that is known to be JSON. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*/g;

function tagged(token: string): string {
  return token.startsWith('"') ? `"$${token.slice(1)}` : `"#${token}"`;
}
