/** The members of an event; the key of a single event is in its header or here. */
const MEMBERS: ReadonlySet<string> = new Set([
  'customerId',
  'meterId',
  'value',
  'occurredAt',
  'properties',
  'idempotencyKey',
]);
/** Of one event, and named in one response. */
const UNKNOWN_MAX = 50;
const NAMED_MAX = 10;

export const NO_NAMES: readonly string[] = [];

/** Names of an event that are not known here, as they were sent: a misspelt one must be reported. */
export function unknownMembers(event: Record<string, unknown>): readonly string[] {
  let unknown: string[] | undefined;
  for (const name in event) {
    if (MEMBERS.has(name)) continue;
    unknown ??= [];
    if (unknown.push(name) === UNKNOWN_MAX) break;
  }
  return unknown ?? NO_NAMES;
}

/** The distinct names of all events of a request, at most ten, for `X-Ignored-Fields`. */
export function createIgnoredNames(first: readonly string[] = NO_NAMES) {
  const names = new Set(first.slice(0, NAMED_MAX));
  return {
    add(more: readonly string[]): void {
      for (const name of more) if (names.size < NAMED_MAX) names.add(name);
    },
    all: (): readonly string[] => (names.size === 0 ? NO_NAMES : [...names]),
  };
}

export function knownMembers(): Iterable<string> {
  return MEMBERS;
}
