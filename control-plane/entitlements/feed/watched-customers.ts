import { asOfMsOf, type FeedState, isSameBut, withoutTime } from './feed-state.ts';

/** A stream that customers are sent to. */
export interface ChangeStream {
  /** One of which everything still has to be sent is sent whole then. */
  change(customer: Watched, event: Buffer): void;
}

/** A customer of whom at least one stream tells, or told a short time ago. */
export interface Watched {
  readonly environment: string;
  /** As it was asked for: its id or external id. */
  readonly name: string;
  readonly streams: Set<ChangeStream>;
  /** Undefined until it was read. */
  state: FeedState | undefined;
  /** Positions of the feed: since when it is watched, and of its last change. */
  sinceAt: number;
  changedAt: number;
  /** Since when no stream tells of it, on the monotonic clock. */
  idleSinceMs: number | undefined;
  isReading: boolean;
  /** Not read again before. */
  readAgainAtMs: number;
  /** Up to when its usage is counted in what was sent of it. */
  asOfMs: number;
  /** Everything of it, as an event. */
  whole(): Buffer;
}

export interface WatchedCustomers {
  /** How many changes were sent so far. */
  readonly position: number;
  readonly size: number;
  countOf(environment: string): number;
  all(): Iterable<Watched>;
  find(environment: string, name: string): Watched | undefined;
  watch(environment: string, name: string): Watched;
  /** Takes a new state, and tells the streams what has changed by it. */
  learn(customer: Watched, state: FeedState): void;
  /** These decisions of its state have changed. */
  tellUsage(customer: Watched, decisions: readonly string[]): void;
  forget(customer: Watched): void;
}

export function createWatchedCustomers(): WatchedCustomers {
  const customers = new Map<string, Watched>();
  const counts = new Map<string, number>();
  let position = 0;

  function tell(customer: Watched, eventOf: () => Buffer): void {
    customer.changedAt = ++position;
    const event = eventOf();
    for (const stream of customer.streams) stream.change(customer, event);
  }

  function tellUsage(customer: Watched, decisions: readonly string[]): void {
    const named = namedBy(customer);
    const text = `event: usage\ndata: {${named},"decisions":[${decisions.join(',')}]}\n\n`;
    tell(customer, () => Buffer.from(text));
  }

  return {
    get position() {
      return position;
    },
    get size() {
      return customers.size;
    },
    countOf: (environment) => counts.get(environment) ?? 0,
    all: () => customers.values(),
    find: (environment, name) => customers.get(keyOf(environment, name)),
    watch(environment, name) {
      const key = keyOf(environment, name);
      const known = customers.get(key);
      if (known) return known;
      const customer = newWatched(environment, name, ++position);
      customers.set(key, customer);
      counts.set(environment, (counts.get(environment) ?? 0) + 1);
      return customer;
    },
    learn(customer, state) {
      const before = customer.state;
      customer.state = state;
      customer.asOfMs = asOfMsOf(state);
      if (!before || !isSameBut(before, state)) {
        tell(customer, customer.whole);
        return;
      }
      const changed = state.features.filter(({ decision }, at) => {
        return withoutTime(decision) !== withoutTime(before.features[at]?.decision ?? '');
      });
      const decisions = changed.map(({ decision }) => decision);
      if (decisions.length > 0) tellUsage(customer, decisions);
    },
    tellUsage,
    forget({ environment, name }) {
      if (!customers.delete(keyOf(environment, name))) return;
      const left = (counts.get(environment) ?? 1) - 1;
      if (left === 0) counts.delete(environment);
      else counts.set(environment, left);
    },
  };
}

function newWatched(environment: string, name: string, sinceAt: number): Watched {
  let printed: { event: Buffer; at: number } | undefined;
  const customer: Watched = {
    environment,
    name,
    streams: new Set(),
    state: undefined,
    sinceAt,
    changedAt: sinceAt,
    idleSinceMs: undefined,
    isReading: false,
    readAgainAtMs: 0,
    asOfMs: Number.POSITIVE_INFINITY,
    whole() {
      // Many streams may tell of it.
      if (printed?.at === customer.changedAt && customer.state) return printed.event;
      const { status = 'unknown', head = '', features = [] } = customer.state ?? {};
      const listed = features.map(({ facts, decision }) => `{${facts}"decision":${decision}}`).join(',');
      const data = `{${namedBy(customer)},"status":"${status}",${head}"features":[${listed}]}`;
      printed = { event: Buffer.from(`event: customer\ndata: ${data}\n\n`), at: customer.changedAt };
      return printed.event;
    },
  };
  return customer;
}

function namedBy({ name, state }: Watched): string {
  const id = state?.made?.customer.customerId;
  return `${id === undefined ? '' : `"customerId":"${id}",`}"asked":${JSON.stringify(name)}`;
}

function keyOf(environment: string, name: string): string {
  return `${environment} ${name}`;
}
