import { batchBody } from './batch-body.ts';
import type { EventQueue, TakeLimits } from './event-queue.ts';
import type { OwnUsage } from './own-usage.ts';
import type { Reporter } from './report.ts';
import { type ItemResult, readVerdict, type Verdict } from './results.ts';
import { type RetryPolicy, retryAfterMs } from './retry-policy.ts';
import { type Origin, type Task, TaskSchedule, taskOf } from './task-schedule.ts';
import { type HttpResponse, request } from './transport.ts';
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

/** Of a request: `{"events":[]}`. The commas are counted with the payloads. */
const ENVELOPE_BYTES = 16;
/** Under way or delayed. A bound of memory, and of what is sent again after a crash. */
const TASKS_MAX = 16;
const NEVER = Number.POSITIVE_INFINITY;

type Sent = { response: HttpResponse; error?: never } | { response?: never; error: string };

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
    if (this.timerAtMs !== NEVER && !(this.isLingering && this.hasBatch())) return;
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
    return this.schedule.size + this.requests < TASKS_MAX;
  }

  private mayNotLinger(): boolean {
    return this.isLingerOver || this.flushes > 0 || this.hasBatch();
  }

  private pump(): void {
    const now = performance.now();
    while (!this.ending.signal.aborted && this.hasSlot() && now >= this.schedule.resumeAtMs) {
      const task = this.schedule.takeUntried(now) ?? this.takeNew() ?? this.schedule.takeDue(now);
      if (!task) break;
      this.requests += 1;
      this.send(task).catch((error: unknown) => this.deps.reporter.problem('internal', inWords(error)));
    }
    this.sleep();
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
    if (this.mayTake() && this.deps.queue.untaken().events > 0) {
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
    const sent = await this.sendBatch(task.payloads);
    this.requests -= 1;
    if (sent.response?.status === 200 && !this.schedule.isFailing) {
      // The server has the next ones before the results of these are read.
      this.pump();
      await nextTurn();
    }
    const verdict = sent.response ? readVerdict(sent.response, task.payloads) : noResponse(sent.error);
    if (this.ending.signal.aborted && verdict.kind !== 'processed') return;
    this.conclude(task, verdict, this.pauseMs(sent.response));
    for (const callback of this.settledCallbacks) callback();
    this.pump();
  }

  /** Never rejects. */
  private async sendBatch(payloads: readonly string[]): Promise<Sent> {
    const { url, headers, reporter } = this.deps;
    const { gzip, timeoutMs } = this.options;
    try {
      const { body, headers: ofBody } = await batchBody(`{"events":[${payloads.join(',')}]}`, gzip);
      const { signal } = this.ending;
      const sent = { url, method: 'POST', headers: { ...headers, ...ofBody }, body };
      const response = await request({ ...sent, timeoutMs, signal });
      const ignored = response.header('x-ignored-fields');
      if (ignored) reporter.problem('ignored_fields', `The server does not know these members: ${ignored}.`);
      return { response };
    } catch (error) {
      return { error: `${url} did not respond: ${inWords(error)}` };
    }
  }

  private pauseMs(response: HttpResponse | undefined): number {
    return retryAfterMs(this.options.retry, response?.header('retry-after') ?? null, Date.now());
  }

  private conclude(task: Task, verdict: Verdict, pauseMs: number): void {
    const { schedule } = this;
    const { payloads } = task;
    if (verdict.kind === 'retry' || verdict.kind === 'unauthorised') {
      this.counts.retries += 1;
      const { code, message } = verdict.error;
      this.deps.reporter.problem(code, message);
      schedule.failed(task, verdict.kind === 'unauthorised' ? this.options.retry.unauthorisedMs : pauseMs);
      return;
    }
    schedule.succeeded();
    if (verdict.kind === 'processed') this.settleResults(task, verdict.results);
    else if (verdict.kind === 'poison' || payloads.length === 1) {
      const index = verdict.kind === 'poison' ? verdict.index : 0;
      schedule.again(task, [payloads.filter((_, at) => at !== index)]);
      this.reject(task, payloads[index] ?? '', verdict.error);
    } else {
      const middle = payloads.length >> 1;
      schedule.again(task, [payloads.slice(0, middle), payloads.slice(middle)]);
    }
  }

  private settleResults(task: Task, results: readonly ItemResult[]): void {
    const later: string[] = [];
    let stored = 0;
    const now = performance.now();
    results.forEach((result, at) => {
      const payload = task.payloads[at] ?? '';
      if ('idempotencyKey' in result) {
        this.counts[result.status] += 1;
        stored += 1;
        this.ownUsage?.acknowledged(result.idempotencyKey, now);
      } else if (result.status === 'rejected') this.reject(task, payload, result.error);
      else {
        later.push(payload);
        this.deps.reporter.problem(result.error.code, result.error.message);
      }
    });
    this.settle(task.origin, stored);
    if (later.length === 0) return;
    this.counts.retries += 1;
    this.schedule.later(task, later);
  }

  private reject({ origin }: Task, payload: string, error: EventRejection): void {
    this.counts.rejected += 1;
    this.ownUsage?.rejected(decodeEvent(payload).idempotencyKey ?? '');
    this.deps.reporter.rejected(payload, error);
    this.settle(origin, 1);
  }

  private settle(origin: Origin, count: number): void {
    origin.unsettled -= count;
    if (origin.unsettled === 0 && count > 0) origin.claim.settle();
    if (this.ownUsage && this.deps.queue.waiting() === 0) this.ownUsage.drained(performance.now());
  }
}

function noResponse(message: string): Verdict {
  return { kind: 'retry', error: { code: 'no_response', message } };
}

/** Of the event loop: what was begun before is under way then. At once where there is no such call. */
async function nextTurn(): Promise<void> {
  if (typeof setImmediate === 'function') await new Promise((resolve) => setImmediate(resolve));
}

/** fetch says `fetch failed`; why is in its cause. */
function inWords(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${(error as Error).message}: ${cause.message}` : String(error);
}
