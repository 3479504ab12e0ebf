import type { Rejection } from '../error-codes.ts';
import { didYouMean } from '../primitives/similar-name.ts';

/** Campaign parameters, which tools append to every link. */
const IGNORED = /^utm_/;
const NAME_CHARS_SHOWN = 64;

/**
 * The error of a query with a parameter that the operation does not know. Were it ignored, a misspelt `from`
 * would return a wrong number with status 200.
 */
export function unknownParameter(
  search: URLSearchParams,
  known: readonly string[],
  maps: readonly string[] = [],
): Rejection | undefined {
  const isKnown = knows(known, maps);
  for (const name of search.keys()) {
    if (isKnown(name) || IGNORED.test(name)) continue;
    return rejectionOf(
      name,
      known.map((one) => (maps.includes(one) ? `${one}[…]` : one)),
    );
  }
  return undefined;
}

/** No parameter is a list: of two values it is not clear which one is meant. */
export function repeatedParameter(
  search: URLSearchParams,
  known: readonly string[],
  maps: readonly string[] = [],
): Rejection | undefined {
  const isKnown = knows(known, maps);
  const repeated = [...search.keys()].find((name) => isKnown(name) && search.getAll(name).length > 1);
  if (repeated === undefined) return undefined;
  const param = shownName(repeated);
  const message = `The query parameter \`${param}\` is repeated. Send it once.`;
  return { code: 'invalid_request', message, param };
}

/**
 * The parameters by name. Those in `maps` hold values by name and come one by one, as `filter[region]=eu`
 * (OpenAPI's style `deepObject`).
 */
export function readQuery(search: URLSearchParams, maps: readonly string[]): Record<string, unknown> {
  const values: Array<[string, unknown]> = [];
  const members = new Map<string, Array<[string, string]>>();
  for (const [name, value] of search) {
    const member = memberOf(name, maps);
    if (!member) values.push([name, value]);
    else members.set(member.map, [...(members.get(member.map) ?? []), [member.name, value]]);
  }
  for (const [map, entries] of members) values.push([map, Object.fromEntries(entries)]);
  return Object.fromEntries(values);
}

const MEMBER = /^(\w+)\[(.*)\]$/s;

function memberOf(parameter: string, maps: readonly string[]): { map: string; name: string } | undefined {
  const [, map = '', name = ''] = MEMBER.exec(parameter) ?? [];
  return maps.includes(map) ? { map, name } : undefined;
}

function knows(known: readonly string[], maps: readonly string[]): (name: string) => boolean {
  return (name) => (known.includes(name) && !maps.includes(name)) || memberOf(name, maps) !== undefined;
}

function rejectionOf(name: string, known: readonly string[]): Rejection {
  const param = shownName(name);
  const list = known.map((one) => `\`${one}\``).join(', ');
  const allowed = known.length === 0 ? 'has none' : `has ${list}`;
  const hint = didYouMean(name, known);
  const message = `Unknown query parameter \`${param}\`; this operation ${allowed}.${hint}`;
  return { code: 'invalid_request', message, param };
}

function shownName(name: string): string {
  return name.slice(0, NAME_CHARS_SHOWN).toWellFormed().replaceAll('\u0000', '\ufffd');
}
