import type { Rejection } from '../error-codes.ts';
import { didYouMean } from '../primitives/similar-name.ts';

/** Campaign parameters, which tools append to every link. */
const IGNORED = /^utm_/;
const NAME_CHARS_SHOWN = 64;

/**
 * The error of a query with a parameter that the operation does not know. Were it ignored, a misspelt `from`
 * would return a wrong number with status 200.
 */
export function unknownParameter(search: URLSearchParams, known: readonly string[]): Rejection | undefined {
  for (const name of search.keys()) {
    if (!known.includes(name) && !IGNORED.test(name)) return rejectionOf(name, known);
  }
  return undefined;
}

/** No parameter is a list: of two values it is not clear which one is meant. */
export function repeatedParameter(search: URLSearchParams, known: readonly string[]): Rejection | undefined {
  const param = known.find((name) => search.getAll(name).length > 1);
  if (param === undefined) return undefined;
  const message = `The query parameter \`${param}\` is repeated. Send it once.`;
  return { code: 'invalid_request', message, param };
}

function rejectionOf(name: string, known: readonly string[]): Rejection {
  const param = name.slice(0, NAME_CHARS_SHOWN).toWellFormed().replaceAll('\u0000', '\ufffd');
  const list = known.map((one) => `\`${one}\``).join(', ');
  const allowed = known.length === 0 ? 'has none' : `has ${list}`;
  const hint = didYouMean(name, known);
  const message = `Unknown query parameter \`${param}\`; this operation ${allowed}.${hint}`;
  return { code: 'invalid_request', message, param };
}
