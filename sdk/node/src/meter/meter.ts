import { checkedAddress } from '../client/server-address.ts';
import { isLoopback } from './batch-body.ts';
import { checkLimits } from './checked-limits.ts';
import { bytesOf, MemoryQueue } from './memory-queue.ts';
import { OwnUsage } from './own-usage.ts';
import { Reporter, type ReportOptions } from './report.ts';
import { RETRY_POLICY, type RetryPolicy } from './retry-policy.ts';
import { RoomQueue } from './room-queue.ts';
import { Sender } from './sender.ts';
import { type Spool, type SpoolStats, SpoolWithMemory } from './spool-with-memory.ts';
import {
  BATCH_EVENTS_MAX,
  BODY_BYTES_MAX,
  type EventRejection,
  encodeEvent,
  keyOf,
  type UsageEvent,
} from './usage-event.ts';

export interface MeterOptions extends ReportOptions {
  /** Of the server, without `/api/v1`. */
  url: string;
  /** A secret API key with the scope `usage:write`. */
  apiKey: string;
  /** Keeps events on disk until they are settled: `openSpool` of `metergate/spool`. In memory without it. */
  spool?: Spool;
  /** Of events in memory, sent or not. Default: 10,000 events, 16 MiB. */
  memory?: { eventsMax?: number; bytesMax?: number };
  /** What becomes of an event when a spool cannot be written. Default: `memory`. */
  onSpoolError?: 'memory' | 'drop';
  /** Default 500, which is the most that the server takes. */
  batchEventsMax?: number;
  /** How long the first event of a batch waits for more. Default 1,000. */
  lingerMs?: number;
  /** Default 4. */
  requestsMax?: number;
  /** Of a request with its response. Default 15,000. */
  timeoutMs?: number;
  /** Of bodies above 1 KiB. Default: true, but for a server on this machine. */
  gzip?: boolean;
  retry?: Partial<RetryPolicy>;
}

export interface Meter {
  /**
   * Takes an event to be sent, and returns at once: true when it is in the spool, or in memory without one.
   * Never throws and never waits. False: it is dropped because there is no room, or rejected because it is
   * not an event; which one is counted in `stats()` and reported.
   */
  track(event: UsageEvent): boolean;
  /** The same, after waiting for room, at most `timeoutMs` (default 5,000): first come, first served. */
  trackWhenRoom(event: UsageEvent, options?: { timeoutMs?: number }): Promise<boolean>;
  /** Sends what waits, and what is tracked meanwhile. Resolves when nothing waits, or after `timeoutMs`. */
  flush(options?: { timeoutMs?: number }): Promise<Flushed>;
  /** The same, and then ends. What waits stays in the spool for the next process; without one it is lost. */
  close(options?: { timeoutMs?: number }): Promise<Flushed>;
  stats(): MeterStats;
}

/** Counts of events during the flush. */
export interface Flushed {
  sent: number;
  rejected: number;
  /** At its end. */
  waiting: number;
}

/** Counts of events since the start, if nothing else is said. */
export interface MeterStats extends SpoolStats {
  /** Taken by `track`. */
  tracked: number;
  /** Settled: counted by the server now, or before (`duplicates`). */
  sent: number;
  duplicates: number;
  /** Handed to `onRejected`. */
  rejected: number;
  /** For want of room, or after `close`. */
  dropped: number;
  /** Now. */
  waiting: number;
  /** Requests that had to be repeated. */
  retries: number;
}

const FLUSH_TIMEOUT_MS = 10_000;
const ROOM_TIMEOUT_MS = 5_000;
const MEMORY = { eventsMax: 10_000, bytesMax: 16 * 1024 * 1024 };

/**
 * Sends usage events to the server, in batches and in the background. Throws a TypeError for a URL or a key,
 * and a RangeError for a number, that cannot be one.
 */
export function createMeter(options: MeterOptions): Meter {
  return new QueueMeter(options);
}

/**
 * What the meter has tracked and the server has not counted yet, from the first call on. Undefined for a
 * meter of another make.
 */
export function ownUsageOf(meter: Meter): OwnUsage | undefined {
  return meter instanceof QueueMeter ? meter.shareUsage() : undefined;
}

/** Of `createMeter`. */
export class QueueMeter implements Meter {
  private readonly reporter: Reporter;
  private readonly queue: SpoolWithMemory;
  private readonly sender: Sender;
  private readonly room: RoomQueue;
  private isClosed = false;
  private tracked = 0;
  private dropped = 0;
  private rejected = 0;

  constructor(options: MeterOptions) {
    const { spool, memory, onSpoolError = 'memory', retry } = options;
    const { url, apiKey } = checkedAddress(options);
    checkLimits(options);
    this.reporter = new Reporter(options);
    const reporter = this.reporter;
    const inMemory = new MemoryQueue({ ...MEMORY, ...memory });
    this.queue = new SpoolWithMemory({ spool, memory: inMemory, reporter, onSpoolError });
    const operation = `${url}/api/v1/usage/events/batch`;
    const headers = { authorization: `Bearer ${apiKey}`, 'user-agent': 'metergate-node/0.1.0' };
    this.sender = new Sender(
      { queue: this.queue, reporter, url: operation, headers },
      {
        batchEventsMax: options.batchEventsMax ?? BATCH_EVENTS_MAX,
        lingerMs: options.lingerMs ?? 1_000,
        requestsMax: options.requestsMax ?? 4,
        timeoutMs: options.timeoutMs ?? 15_000,
        gzip: options.gzip ?? !isLoopback(url),
        retry: { ...RETRY_POLICY, ...retry },
      },
    );
    this.queue.onFound(() => this.sender.added());
    this.room = new RoomQueue((chars) => this.isClosed || this.queue.hasRoom(chars));
    this.sender.onSettled(() => this.room.serve());
  }

  track(event: UsageEvent): boolean {
    return this.take(event) === undefined;
  }

  /** The same; gives why the event was not taken. */
  take(event: UsageEvent): EventRejection | undefined {
    const nowMs = Date.now();
    const payload = encodeChecked(event, nowMs);
    return typeof payload === 'string' ? this.add(payload, event, nowMs) : this.reject(event, payload);
  }

  shareUsage(): OwnUsage {
    this.sender.ownUsage ??= new OwnUsage();
    return this.sender.ownUsage;
  }

  async trackWhenRoom(event: UsageEvent, { timeoutMs = ROOM_TIMEOUT_MS } = {}): Promise<boolean> {
    const payload = encodeChecked(event, Date.now());
    if (typeof payload !== 'string') return this.reject(event, payload) === undefined;
    const add = (): boolean => this.add(payload, event, Date.now()) === undefined;
    return await this.room.wait(payload.length, timeoutMs, add);
  }

  private add(payload: string, event: UsageEvent, nowMs: number): EventRejection | undefined {
    if (this.isClosed) return this.drop('closed', 'An event came after the meter was closed.');
    if (this.queue.add(payload, nowMs) !== 'stored') {
      return this.drop('buffer_full', 'Events are dropped: there is no room for more.');
    }
    this.tracked += 1;
    this.sender.ownUsage?.tracked(keyOf(event, payload), event);
    this.sender.added();
    return undefined;
  }

  async flush({ timeoutMs = FLUSH_TIMEOUT_MS } = {}): Promise<Flushed> {
    const before = this.stats();
    const linger = this.sender.hurry();
    await this.until(() => this.queue.waiting() === 0, timeoutMs);
    linger();
    const { sent, rejected, waiting } = this.stats();
    return { sent: sent - before.sent, rejected: rejected - before.rejected, waiting };
  }

  async close(options: { timeoutMs?: number } = {}): Promise<Flushed> {
    const flushed = await this.flush(this.isClosed ? { timeoutMs: 0 } : options);
    this.isClosed = true;
    this.sender.close();
    this.room.serve();
    const waiting = this.queue.waiting();
    this.queue.close();
    return { ...flushed, waiting };
  }

  stats(): MeterStats {
    const { created, duplicate, rejected, retries } = this.sender.counts;
    return {
      ...this.queue.stats(),
      tracked: this.tracked,
      sent: created + duplicate,
      duplicates: duplicate,
      rejected: this.rejected + rejected,
      dropped: this.dropped,
      waiting: this.queue.waiting(),
      retries,
    };
  }

  /** Its timer holds the process: the caller waits. */
  private async until(isSo: () => boolean, timeoutMs: number): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        stopLooking();
        clearTimeout(timer);
        resolve();
      };
      const stopLooking = this.sender.onSettled(() => isSo() && end());
      const timer = setTimeout(end, timeoutMs);
    });
  }

  private reject(event: UsageEvent, rejection: EventRejection): EventRejection {
    this.rejected += 1;
    // Not within the call: the caller's own callback may track again.
    queueMicrotask(() => this.reporter.rejected(event, rejection));
    return rejection;
  }

  private drop(code: string, message: string): EventRejection {
    this.dropped += 1;
    queueMicrotask(() => this.reporter.problem(code, message));
    return { code, message };
  }
}

/** Of one event, in a request by itself. */
const PAYLOAD_BYTES_MAX = BODY_BYTES_MAX - 1_024;
/** A character is at most three bytes. */
const PAYLOAD_CHARS_SAFE = PAYLOAD_BYTES_MAX / 3;

function encodeChecked(event: UsageEvent, nowMs: number): string | EventRejection {
  const payload = encodeEvent(event, nowMs);
  if (typeof payload !== 'string') return payload;
  if (payload.length <= PAYLOAD_CHARS_SAFE || bytesOf(payload) <= PAYLOAD_BYTES_MAX) return payload;
  return { code: 'payload_too_large', message: `An event has at most ${PAYLOAD_BYTES_MAX} bytes.` };
}
