import type { MeterName, OwnUsage } from '../meter/own-usage.ts';
import { unref } from '../meter/unref.ts';
import type { FedCustomer, FedFeature } from './fed-customer.ts';
import { FeedConnection } from './feed-connection.ts';

export interface FeedOptions {
  url: string;
  headers: Record<string, string>;
  customersMax: number;
  ownUsage: OwnUsage | undefined;
  onProblem(code: string, message: string): void;
}

/** What the feed knows of a customer. */
export interface Known {
  customer: FedCustomer;
  /** Of the customer, not of one feature. */
  asOf: string | undefined;
  /** Up to when the usage of this feature is counted, on the clock of `performance.now()`. */
  countedToMs(feature: FedFeature): number;
}

/** A customer that was checked. */
interface Watched {
  name: string;
  connection: FeedConnection | undefined;
  sinceMs: number;
  checkedAtMs: number;
}

/** The server's bounds of one stream are 500 names and the head of a request. */
const NAMES_MAX = 500;
const ADDRESS_CHARS_MAX = 10_000;
/** Without a word for as long nothing is decided here: a heartbeat comes every second. */
const FRESH_MS = 2_000;
/** Nor by a stream that something in between delays for longer. */
const AGE_MS_MAX = 4_000;
/** New customers are collected: first for a short time, then each stream is opened at most this often. */
const JOIN_MS = 20;
const JOIN_AGAIN_MS = 500;
/** Those not checked for so long make room for others. */
const IDLE_MS = 600_000;
/** A customer that joins may be counted up to a time before that of the others. */
const KEPT_MS = 10_000;
const METERS_MAX = 10_000;

/** Follows the customers that are checked here, in a few streams. */
export class EntitlementFeed {
  private readonly options: FeedOptions;
  private readonly watched = new Map<string, Watched>();
  private connections: FeedConnection[] = [];
  /** Those that a new one takes the place of, until it is ready. */
  private readonly replaced = new Map<FeedConnection, FeedConnection[]>();
  /** By feature. */
  private readonly meters = new Map<string, MeterName>();
  private readonly joining = new Set<string>();
  private readonly waiting = new Map<string, Set<() => void>>();
  private joinTimer: ReturnType<typeof setTimeout> | undefined;
  private joinedAtMs = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  constructor(options: FeedOptions) {
    this.options = options;
  }

  /** Undefined where it is not known as it is now. */
  find(name: string): Known | undefined {
    const watched = this.watched.get(name);
    if (!watched) return undefined;
    const nowMs = performance.now();
    watched.checkedAtMs = nowMs;
    const { connection } = watched;
    if (!connection || nowMs - connection.freshAtMs > FRESH_MS) return undefined;
    // mutant: delayed-feed-decides
    if (connection.ageMs(nowMs) > AGE_MS_MAX) return undefined;
    return knownIn(connection, name);
  }

  /** As it was when the feed last spoke of it. */
  findLast(name: string): Known | undefined {
    const connection = this.watched.get(name)?.connection;
    return connection && knownIn(connection, name);
  }

  /** Of a feature, as far as any customer has it. */
  meterOf(featureKey: string): MeterName | undefined {
    return this.meters.get(featureKey);
  }

  /** From now on the feed tells of it, unless it tells of as many as it may. */
  watch(name: string): void {
    if (this.isClosed || this.watched.has(name)) return;
    if (this.watched.size >= this.options.customersMax) this.forgetIdle();
    if (this.watched.size >= this.options.customersMax) return;
    const sinceMs = performance.now();
    this.watched.set(name, { name, connection: undefined, sinceMs, checkedAtMs: sinceMs });
    this.joining.add(name);
    this.joinSoon();
  }

  /** Resolves when it is known, at the latest so long after it was watched. */
  async known(name: string, timeoutMs: number): Promise<void> {
    const watched = this.watched.get(name);
    const leftMs = watched ? watched.sinceMs + timeoutMs - performance.now() : 0;
    if (leftMs <= 0 || this.find(name)) return;
    const waiting = this.waiting.get(name) ?? new Set();
    this.waiting.set(name, waiting);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        waiting.delete(end);
        if (waiting.size === 0) this.waiting.delete(name);
        resolve();
      };
      const timer = setTimeout(end, leftMs);
      waiting.add(end);
    });
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.joinTimer);
    for (const one of [...this.connections, ...[...this.replaced.values()].flat()]) one.close();
    for (const ends of [...this.waiting.values()]) for (const end of [...ends]) end();
  }

  private joinSoon(): void {
    if (this.joinTimer !== undefined) return;
    const againMs = this.joinedAtMs + JOIN_AGAIN_MS - performance.now();
    this.joinTimer = setTimeout(() => this.join(), Math.max(JOIN_MS, againMs));
    unref(this.joinTimer);
  }

  /** Those that wait go into the smallest stream, which is opened again with them, or into their own. */
  private join(): void {
    this.joinTimer = undefined;
    this.joinedAtMs = performance.now();
    const smallest = [...this.connections].sort((a, b) => a.names.size - b.names.size)[0];
    const own = smallest ? [...smallest.names].filter((name) => this.watched.has(name)) : [];
    const names = namesThatFit([...own, ...this.joining]);
    const isMore = names.length > own.length;
    const chosen = isMore ? names : namesThatFit([...this.joining]);
    for (const name of chosen) this.joining.delete(name);
    if (chosen.length > 0) this.open(chosen, isMore && smallest ? [smallest] : []);
    if (this.joining.size > 0) this.joinSoon();
  }

  /** The ones that it replaces go on until it is ready. */
  private open(names: readonly string[], inPlaceOf: readonly FeedConnection[]): void {
    const { url, headers, onProblem } = this.options;
    const connection: FeedConnection = new FeedConnection({
      url,
      headers,
      names,
      onProblem,
      onReady: () => this.ready(connection),
      onCustomer: (name) => this.learned(connection, name),
      onCounted: () => this.counted(),
    });
    const before = inPlaceOf.flatMap((one) => [...(this.replaced.get(one) ?? []), one]);
    for (const one of inPlaceOf) this.replaced.delete(one);
    if (before.length > 0) this.replaced.set(connection, before);
    this.connections = [...this.connections.filter((one) => !inPlaceOf.includes(one)), connection];
    for (const name of names) {
      const watched = this.watched.get(name);
      if (watched) watched.connection ??= connection;
    }
  }

  private ready(connection: FeedConnection): void {
    for (const name of connection.names) {
      const watched = this.watched.get(name);
      if (watched) watched.connection = connection;
    }
    for (const one of this.replaced.get(connection) ?? []) one.close();
    this.replaced.delete(connection);
    for (const name of connection.names) this.release(name);
  }

  private learned(connection: FeedConnection, name: string): void {
    for (const [key, { meter }] of connection.find(name)?.features ?? []) {
      if (meter !== undefined && this.meters.size < METERS_MAX) this.meters.set(key, meter);
    }
    if (this.watched.get(name)?.connection === connection) this.release(name);
  }

  private release(name: string): void {
    for (const end of [...(this.waiting.get(name) ?? [])]) if (this.find(name)) end();
  }

  private counted(): void {
    const all = this.connections.map(({ asOfMs, aheadMs }) => asOfMs - aheadMs);
    this.options.ownUsage?.counted(Math.min(...all) - KEPT_MS);
  }

  private end(connection: FeedConnection): void {
    for (const one of [connection, ...(this.replaced.get(connection) ?? [])]) one.close();
    this.replaced.delete(connection);
    this.connections = this.connections.filter((one) => one !== connection);
  }

  private forgetIdle(): void {
    const idleSinceMs = performance.now() - IDLE_MS;
    for (const { name, checkedAtMs } of [...this.watched.values()]) {
      if (checkedAtMs < idleSinceMs) this.watched.delete(name);
    }
    for (const connection of [...this.connections]) {
      const names = [...connection.names].filter((name) => this.watched.has(name));
      if (names.length === 0) this.end(connection);
      else if (names.length < connection.names.size) this.open(names, [connection]);
    }
  }
}

function knownIn(connection: FeedConnection, name: string): Known | undefined {
  const customer = connection.find(name);
  if (!customer) return undefined;
  const { asOf, asOfMs, aheadMs } = connection;
  const countedToMs = ({ countedToMs: ofFeature }: FedFeature): number =>
    Math.max(ofFeature, asOfMs) - aheadMs;
  return { customer, asOf, countedToMs };
}

/** As many of the first as one stream can have. */
function namesThatFit(names: readonly string[]): string[] {
  let chars = 0;
  const fit = names.findIndex((name, at) => {
    chars += encodeURIComponent(encodeURIComponent(name)).length + 1;
    return at >= NAMES_MAX || chars > ADDRESS_CHARS_MAX;
  });
  return fit < 0 ? [...names] : names.slice(0, fit);
}
