/** Names and indexes from the data of an event down to a value. */
export type EventPath = readonly (string | number)[];

const STEPS_MAX = 16;
const STEP =
  /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(\d{1,6})\]|\['((?:[^'\\]|\\['\\])*)'\]|\["((?:[^"\\]|\\["\\])*)"\]/uy;

/**
 * Reads `tokens`, the name of one member, whatever characters it has, or a JSONPath (RFC 9535) of names and
 * indexes: `$.usage.tokens`, `$['total tokens']`, `$.parts[0].size`. Undefined for every other JSONPath.
 */
export function readEventPath(text: string): EventPath | undefined {
  if (!text.startsWith('$')) return [text];
  const path: Array<string | number> = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text);
    if (!step || path.length === STEPS_MAX) return undefined;
    const [, name, index, single, double] = step;
    if (index === undefined) path.push(name ?? (single ?? double ?? '').replace(/\\(.)/gs, '$1'));
    else path.push(Number(index));
  }
  return path;
}

/** What is there in the data; undefined where there is nothing. Own members alone. */
export function valueAt(data: unknown, path: EventPath): unknown {
  let value = data;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof step === 'number' ? !Array.isArray(value) : Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
