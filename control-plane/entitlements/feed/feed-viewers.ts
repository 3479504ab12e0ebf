import type { Clock } from '../../../infra/ports/clock.ts';
import { Rejected } from '../../../schemas/failures.ts';
import { createFeedStream, type FeedStream } from './feed-stream.ts';
import { createUnreadBytes } from './unread-bytes.ts';
import type { Watched, WatchedCustomers } from './watched-customers.ts';

export interface FeedViewer {
  environment: string;
  /** Ids or external ids, each once. Undefined: those that were checked lately. */
  names: readonly string[] | undefined;
  /** Of the last event that the client has had. */
  lastEventId: string | undefined;
  heartbeatMs: number;
  /** The stream ends after it, or a part earlier: not all come again at once. */
  forMs: number;
  /** Whether its key may still read. Called every few seconds. */
  isAllowed(): Promise<boolean>;
}

export interface FeedLimits {
  streamsMax: number;
  /** Of one environment. */
  streamsShareMax: number;
  customersMax: number;
  customersShareMax: number;
  /** Customers of all streams, each counted once for each of its streams. */
  placesMax: number;
  /** Of one stream of those that were checked lately. */
  seenMax: number;
  /** Of all streams that wait for their clients. */
  unreadBytesMax: number;
}

/** The customer cache has places for 10,000. */
export const FEED_LIMITS: FeedLimits = {
  streamsMax: 6_000,
  streamsShareMax: 5_000,
  customersMax: 8_000,
  customersShareMax: 5_000,
  placesMax: 500_000,
  seenMax: 2_000,
  unreadBytesMax: 64 * 2 ** 20,
};

export interface OpenFeed {
  viewer: FeedViewer;
  stream: FeedStream;
  customers: Set<Watched>;
  ordinal: number;
  beatsAtMs: number;
  endsAtMs: number;
}

interface NewFeed {
  /** How many customers it tells of at once. */
  customers: number;
  /** Its client has had everything up to its `lastEventId`. */
  isResumed: boolean;
  /** The id of an event to this viewer. */
  position(): string;
}

/** Those that have a stream. */
export interface FeedViewers {
  readonly open: ReadonlySet<OpenFeed>;
  /** How many were cut off. */
  cutOff(): number;
  /** Throws Rejected. */
  admit(viewer: FeedViewer, feed: NewFeed): OpenFeed;
  /** Whether streams may tell of so many more customers, each counted once for each of its streams. */
  hasPlaces(customers: number): boolean;
  /** From now on the stream tells of this customer. `isKnown`: its client has had everything so far. */
  join(feed: OpenFeed, customer: Watched, isKnown: boolean): void;
  /** A turn of changes begins. */
  turn(): void;
  /** A second has passed; `time` is the heartbeat of an environment. */
  second(time: (environment: string) => Buffer): void;
  end(): void;
}

const CHECK_SECONDS = 4;

interface FeedViewersDeps {
  clock: Clock;
  watched: WatchedCustomers;
  limits: FeedLimits;
}

export function createFeedViewers({ clock, watched, limits }: FeedViewersDeps): FeedViewers {
  const open = new Set<OpenFeed>();
  const counts = { seconds: 0, opened: 0, cutOff: 0, places: 0 };
  const unread = createUnreadBytes(() => bodiesOf(open), limits.unreadBytesMax);
  let isEnded = false;

  function leave(feed: OpenFeed): void {
    if (!open.delete(feed)) return;
    counts.places -= feed.customers.size;
    for (const customer of feed.customers) leaveCustomer(customer, feed.stream, clock.monotonicMs());
  }

  return {
    open,
    cutOff: () => counts.cutOff + unread.cutOff(),
    hasPlaces: (customers) => counts.places + customers <= limits.placesMax,
    admit(viewer, { customers, isResumed, position }) {
      if (isEnded) throw new Rejected('unavailable', 'This process is stopping. Retry the request.');
      rejectTooMany(viewer, { open, watched, limits, places: counts.places + customers });
      const onCut = () => void counts.cutOff++;
      const to = { isResumed, position, onWrite: unread.wrote, onCut };
      const stream = createFeedStream({ nowMs: clock.nowMs(), ...to });
      const nowMs = clock.monotonicMs();
      const endsAtMs = nowMs + viewer.forMs * (1 - Math.random() / 10);
      counts.opened += 1;
      const timed = { ordinal: counts.opened, beatsAtMs: nowMs, endsAtMs };
      const feed = { viewer, stream, customers: new Set<Watched>(), ...timed };
      open.add(feed);
      stream.body.once('close', () => leave(feed));
      return feed;
    },
    join(feed, customer, isKnown) {
      if (feed.customers.has(customer)) return;
      feed.customers.add(customer);
      customer.streams.add(feed.stream);
      customer.idleSinceMs = undefined;
      counts.places += 1;
      if (!isKnown) feed.stream.expect(customer);
    },
    turn() {
      for (const { stream } of open) stream.begin();
    },
    second(time) {
      const nowMs = clock.monotonicMs();
      counts.seconds += 1;
      for (const feed of open) {
        if (nowMs >= feed.endsAtMs) feed.stream.end();
        else if ((counts.seconds + feed.ordinal) % CHECK_SECONDS === 0) void endIfDenied(feed);
      }
      beat(open, nowMs, time);
    },
    end() {
      isEnded = true;
      for (const { stream } of open) stream.end();
    },
  };
}

function beat(open: ReadonlySet<OpenFeed>, nowMs: number, time: (environment: string) => Buffer): void {
  const events = new Map<string, Buffer>();
  for (const feed of open) {
    if (nowMs < feed.beatsAtMs) continue;
    const { environment, heartbeatMs } = feed.viewer;
    const event = events.get(environment) ?? time(environment);
    events.set(environment, event);
    feed.beatsAtMs = nowMs + heartbeatMs;
    feed.stream.say(event);
  }
}

function* bodiesOf(open: ReadonlySet<OpenFeed>) {
  for (const { stream } of open) yield stream.body;
}

function leaveCustomer(customer: Watched, stream: FeedStream, nowMs: number): void {
  customer.streams.delete(stream);
  if (customer.streams.size === 0) customer.idleSinceMs = nowMs;
}

interface Taken extends Pick<FeedViewersDeps, 'watched' | 'limits'> {
  open: ReadonlySet<OpenFeed>;
  /** With those of the new feed. */
  places: number;
}

function rejectTooMany(
  { environment, names = [] }: FeedViewer,
  { open, watched, limits, places }: Taken,
): void {
  let own = 0;
  for (const { viewer } of open) if (viewer.environment === environment) own += 1;
  const isFull = open.size >= limits.streamsMax || own >= limits.streamsShareMax;
  if (isFull || places > limits.placesMax) throw new Rejected('rate_limited', TOO_MANY_STREAMS);
  const more = names.filter((name) => !watched.find(environment, name)).length;
  if (more > 0 && isFullOfCustomers(watched, limits, { environment, more }))
    throw new Rejected('rate_limited', TOO_MANY_CUSTOMERS);
}

/** True if no so many further customers of this environment can be watched. */
export function isFullOfCustomers(
  watched: WatchedCustomers,
  { customersMax, customersShareMax }: FeedLimits,
  { environment, more }: { environment: string; more: number },
): boolean {
  return watched.size + more > customersMax || watched.countOf(environment) + more > customersShareMax;
}

/** While a store is unavailable, it stays as it was. */
async function endIfDenied({ viewer, stream }: OpenFeed): Promise<void> {
  const isAllowed = await viewer.isAllowed().catch(() => true);
  if (!isAllowed) stream.end();
}

const TOO_MANY_STREAMS = 'Too many feeds are open on this process. Share one between your clients.';
const TOO_MANY_CUSTOMERS = 'Too many customers are watched on this process. Name fewer, or close a feed.';
