import type { Rejection } from '../error-codes.ts';
import { didYouMean } from '../primitives/similar-name.ts';

/** Marks of a campaign, which links carry everywhere. */
const PASSED_OVER = /^utm_/;
const NAME_CHARS_SHOWN = 64;

/**
 * Why a query is refused that names what its operation does not know: an ignored `from` is a wrong number
 * with status 200.
 */
export function unknownParameter(search: URLSearchParams, known: readonly string[]): Rejection | undefined {
  for (const name of search.keys()) {
    if (!known.includes(name) && !PASSED_OVER.test(name)) return rejectionOf(name, known);
  }
  return undefined;
}

/** Parameters are no lists: of two values nobody can tell which one is meant. */
export function repeatedParameter(search: URLSearchParams, known: readonly string[]): Rejection | undefined {
  const param = known.find((name) => search.getAll(name).length > 1);
  if (param === undefined) return undefined;
  const message = `The query parameter \`${param}\` is repeated. Send it once.`;
  return { code: 'invalid_request', message, param };
}

function rejectionOf(name: string, known: readonly string[]): Rejection {
  const param = name.slice(0, NAME_CHARS_SHOWN).toWellFormed().replaceAll('\u0000', '\ufffd');
  const list = known.map((one) => `\`${one}\``).join(', ');
  const taken = known.length === 0 ? 'it takes none' : `it takes ${list}`;
  const message = `\`${param}\` is no query parameter of this operation: ${taken}.${didYouMean(name, known)}`;
  return { code: 'invalid_request', message, param };
}
