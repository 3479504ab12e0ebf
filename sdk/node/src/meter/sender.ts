import { batchBody } from './batch-body.ts';
import { BODY_HEAD_BYTES, BODY_TAIL_BYTES, type EventBatch, eventAt, picked } from './event-batch.ts';
import type { EventQueue, TakeLimits } from './event-queue.ts';
import { type StoredCounts, storedKeys } from './ordinary-results.ts';
import type { OwnUsage } from './own-usage.ts';
import type { Reporter } from './report.ts';
import { type ItemResult, type RetryCause, readVerdict, type Verdict } from './results.ts';
import { type RetryPolicy, retryAfterMs } from './retry-policy.ts';
import { type Origin, type Task, TaskSchedule, taskOf } from './task-schedule.ts';
import { request } from './transport.ts';
import { unref } from './unref.ts';
import { BODY_BYTES_MAX, decodeEvent, type EventRejection } from './usage-event.ts';

export interface SenderDeps {
  queue: EventQueue;
  reporter: Reporter;
  /** Of the batch operation. */
  url: string;
  headers: Record<string, string>;
}

export interface SenderOptions {
  batchEventsMax: number;
  /** How long the first event of a batch waits for more. */
  lingerMs: number;
  requestsMax: number;
  timeoutMs: number;
  gzip: boolean;
  retry: RetryPolicy;
}

/** Commas are counted with the events. */
const ENVELOPE_BYTES = BODY_HEAD_BYTES + BODY_TAIL_BYTES;
/** Under way or delayed. A bound of memory, and of what is sent again after a crash. */
const TASKS_MAX = 16;
/** Those that the server cannot store just now, while it stores others, hold up nothing up to so many. */
const DEFERRED_EVENTS_MAX = 5_000;
/** So often a batch that the server fails at is sent whole. */
const WHOLE_FAILURES_MAX = 2;
const NEVER = Number.POSITIVE_INFINITY;

/** Sends what is in the queue, oldest first, a few requests at a time. */
export class Sender {
  readonly counts = { created: 0, duplicate: 0, rejected: 0, retries: 0 };
  /** Told what becomes of events, where it is wished. */
  ownUsage: OwnUsage | undefined;
  private readonly deps: SenderDeps;
  private readonly options: SenderOptions;
  private readonly limits: TakeLimits;
  private readonly schedule: TaskSchedule;
  private readonly ending = new AbortController();
  private readonly settledCallbacks = new Set<() => void>();
  private requests = 0;
  private flushes = 0;
  private isLingerOver = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private timerAtMs = NEVER;
  /** There were events to take when the timer was set: else it may be that of a task that waits for long. */
  private isCounted = false;
  /** Something in between does not let compressed bodies through as they are. */
  private isPlain = false;
  /** The timer waits for nothing but more events. */
  private isLingering = false;

  constructor(deps: SenderDeps, options: SenderOptions) {
    this.deps = deps;
    this.options = options;
    const { batchEventsMax, retry } = options;
    const bytesMax = BODY_BYTES_MAX - ENVELOPE_BYTES - batchEventsMax;
    this.limits = { eventsMax: batchEventsMax, bytesMax };
    this.schedule = new TaskSchedule(retry);
  }

  /** An event was added just now. Costs something for the first and the last of a batch only. */
  added(): void {
    if (!this.hasSlot()) return;
    const isTimed = this.timerAtMs !== NEVER && this.isCounted;
    if (isTimed && !(this.isLingering && this.hasBatch())) return;
    this.sleep();
  }

  /** Sends what waits, without the linger until the returned function is called. */
  hurry(): () => void {
    this.flushes += 1;
    this.pump();
    return () => {
      this.flushes -= 1;
    };
  }

  /** Called each time that something may have been settled. Returns what ends that. */
  onSettled(callback: () => void): () => void {
    this.settledCallbacks.add(callback);
    return () => void this.settledCallbacks.delete(callback);
  }

  /** Ends the requests under way. What is not settled stays in the queue. */
  close(): void {
    this.ending.abort(new Error('the meter was closed'));
    clearTimeout(this.timer);
  }

  private hasSlot(): boolean {
    return this.requests < (this.schedule.isFailing ? 1 : this.options.requestsMax);
  }

  private hasBatch(): boolean {
    const { events, bytes } = this.deps.queue.untaken();
    return events >= this.limits.eventsMax || bytes >= this.limits.bytesMax;
  }

  private mayTake(): boolean {
    const { size, deferredEvents } = this.schedule;
    return size + this.requests < TASKS_MAX && deferredEvents < DEFERRED_EVENTS_MAX;
  }

  private mayNotLinger(): boolean {
    return this.isLingerOver || this.flushes > 0 || this.hasBatch();
  }

  private pump(): void {
    const now = performance.now();
    while (!this.ending.signal.aborted && this.hasSlot() && now >= this.schedule.resumeAtMs) {
      const task = this.next(now);
      if (!task) break;
      this.requests += 1;
      this.send(task).catch((error: unknown) => this.deps.reporter.problem('internal', inWords(error)));
    }
    this.sleep();
  }

  private next(now: number): Task | undefined {
    const { schedule } = this;
    const again = schedule.takeUntried(now) ?? schedule.takeDeferred(now);
    return again ?? this.takeNew() ?? schedule.takeDue(now);
  }

  private takeNew(): Task | undefined {
    if (!this.mayTake() || !this.mayNotLinger()) return undefined;
    const claim = this.deps.queue.take(this.limits);
    if (claim) return taskOf(claim);
    this.isLingerOver = false;
    return undefined;
  }

  /** Until there is something to do that is not the end of a request. */
  private sleep(): void {
    if (!this.hasSlot()) return;
    const now = performance.now();
    let wakeAtMs = this.schedule.nextDueAtMs();
    let isLingering = false;
    this.isCounted = this.deps.queue.untaken().events > 0;
    if (this.mayTake() && this.isCounted) {
      const takeAtMs = this.mayNotLinger() ? now : now + this.options.lingerMs;
      isLingering = takeAtMs > now && takeAtMs < wakeAtMs;
      wakeAtMs = Math.min(wakeAtMs, takeAtMs);
    }
    const atMs = Math.max(wakeAtMs, this.schedule.resumeAtMs);
    if (this.ending.signal.aborted || atMs >= this.timerAtMs) return;
    this.isLingering = isLingering && atMs === wakeAtMs;
    this.timerAtMs = atMs;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wake(), atMs - now);
    // While the server is unavailable the process may end: a spool keeps its events.
    if (this.schedule.isFailing) unref(this.timer);
  }

  private wake(): void {
    this.timerAtMs = NEVER;
    this.isLingering = false;
    this.isLingerOver = true;
    this.pump();
  }

  private async send(task: Task): Promise<void> {
    const { verdict, pauseMs } = await this.sendBatch(task.events);
    this.requests -= 1;
    const isKnown = verdict.kind === 'stored' || verdict.kind === 'processed';
    if (this.ending.signal.aborted && !isKnown) return;
    this.conclude(task, verdict, pauseMs);
    for (const callback of this.settledCallbacks) callback();
    this.pump();
  }

  /** Never rejects. */
  private async sendBatch(events: EventBatch): Promise<{ verdict: Verdict; pauseMs: number }> {
    const { url, headers, reporter } = this.deps;
    const { gzip, timeoutMs, retry } = this.options;
    try {
      const { body, headers: ofBody } = await batchBody(events.body, gzip && !this.isPlain);
      const { signal } = this.ending;
      const sent = { url, method: 'POST', headers: { ...headers, ...ofBody }, body };
      const response = await request({ ...sent, timeoutMs, signal });
      const ignored = response.header('x-ignored-fields');
      if (ignored) reporter.problem('ignored_fields', `The server does not know these members: ${ignored}.`);
      const pauseMs = retryAfterMs(retry, response.header('retry-after'), Date.now());
      return { verdict: readVerdict(response, events), pauseMs };
    } catch (error) {
      const failed = { code: 'no_response', message: `${url} did not respond: ${inWords(error)}` };
      return { verdict: { kind: 'retry', error: failed }, pauseMs: 0 };
    }
  }

  private conclude(task: Task, verdict: Verdict, pauseMs: number): void {
    const { schedule } = this;
    const { events } = task;
    if (verdict.kind === 'retry' || verdict.kind === 'unauthorised') {
      this.counts.retries += 1;
      const { code, message } = verdict.error;
      this.deps.reporter.problem(code, message);
      if (verdict.kind === 'unauthorised') schedule.failed(task, this.options.retry.unauthorisedMs);
      else this.sendAgain(task, pauseMs, verdict.cause);
      return;
    }
    schedule.succeeded();
    const count = events.begins.length;
    if (verdict.kind === 'stored') this.settleStored(task, verdict);
    else if (verdict.kind === 'processed') this.settleResults(task, verdict.results);
    else if (verdict.kind === 'poison' || count === 1) {
      const index = verdict.kind === 'poison' ? verdict.index : 0;
      const others = indexes(0, count).filter((at) => at !== index);
      schedule.again(task, [picked(events, others)]);
      this.reject(task, index, verdict.error);
    } else {
      schedule.again(task, halves(events));
    }
  }

  /** In halves where the batch itself may be the reason: an event of it, or its size. */
  private sendAgain(task: Task, pauseMs: number, cause: RetryCause | undefined): void {
    if (cause === 'changed') this.isPlain = true;
    const suspicions = task.suspicions + (cause === undefined ? 0 : 1);
    const count = task.events.begins.length;
    const isHalved = cause !== undefined && suspicions > WHOLE_FAILURES_MAX && count > 1 && this.mayTake();
    const parts = isHalved ? halves(task.events) : [task.events];
    this.schedule.failed({ ...task, suspicions }, pauseMs, parts);
  }

  private settleStored({ events, origin }: Task, { created, duplicate }: StoredCounts): void {
    this.counts.created += created;
    this.counts.duplicate += duplicate;
    const now = performance.now();
    if (this.ownUsage) for (const key of storedKeys(events)) this.ownUsage.acknowledged(key, now);
    this.settle(origin, created + duplicate);
  }

  private settleResults(task: Task, results: readonly ItemResult[]): void {
    const later: number[] = [];
    let stored = 0;
    const now = performance.now();
    results.forEach((result, at) => {
      if ('idempotencyKey' in result) {
        this.counts[result.status] += 1;
        stored += 1;
        this.ownUsage?.acknowledged(result.idempotencyKey, now);
      } else if (result.status === 'rejected') this.reject(task, at, result.error);
      else {
        later.push(at);
        this.deps.reporter.problem(result.error.code, result.error.message);
      }
    });
    this.settle(task.origin, stored);
    if (later.length === 0) return;
    this.counts.retries += 1;
    const deferred = picked(task.events, later);
    // Parts of the same claim may still be on their way.
    if (task.origin.unsettled === later.length) task.origin.claim.keep?.(deferred);
    this.schedule.later(task, deferred);
  }

  private reject({ events, origin }: Task, index: number, error: EventRejection): void {
    const event = eventAt(events, index);
    this.counts.rejected += 1;
    this.ownUsage?.rejected(decodeEvent(event)?.event.idempotencyKey ?? '');
    this.deps.reporter.rejected(event, error);
    this.settle(origin, 1);
  }

  private settle(origin: Origin, count: number): void {
    origin.unsettled -= count;
    if (origin.unsettled === 0 && count > 0) origin.claim.settle();
    if (this.ownUsage && this.deps.queue.waiting() === 0) this.ownUsage.drained(performance.now());
  }
}

function halves(events: EventBatch): EventBatch[] {
  const count = events.begins.length;
  const middle = count >> 1;
  return [indexes(0, middle), indexes(middle, count)].map((half) => picked(events, half));
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

/** fetch says `fetch failed`; why is in its cause. */
function inWords(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${(error as Error).message}: ${cause.message}` : String(error);
}
