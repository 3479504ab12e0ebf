import type { EventBatch } from './event-batch.ts';
import type { Claim } from './event-queue.ts';
import { backoffMs, type RetryPolicy, spread } from './retry-policy.ts';

/** Events of a claim that are sent in one request. */
export interface Task {
  events: EventBatch;
  origin: Origin;
  /** Failures while requests of other tasks were processed: of this one itself. */
  ownFailures: number;
  dueAtMs: number;
  /** How many requests had been processed when it last failed. */
  processedBefore: number;
}

/** A claim is settled when the events of all its tasks are. */
export interface Origin {
  claim: Claim;
  unsettled: number;
}

export function taskOf(claim: Claim): Task {
  const origin = { claim, unsettled: claim.events.begins.length };
  return { events: claim.events, origin, ownFailures: 0, dueAtMs: 0, processedBefore: -1 };
}

/**
 * When to send again. After a failure everything waits, and then one task at a time is tried, each in turn,
 * until one is processed: then the server is well. A task that fails while others are processed waits by
 * itself and holds up nothing. Times are those of `performance.now()`, which no clock sets back.
 */
export class TaskSchedule {
  private readonly policy: RetryPolicy;
  /** Oldest first, but those that failed, which are in the order of their failures. */
  private delayed: Task[] = [];
  private processed = 0;
  /** In a row. */
  private failures = 0;
  private resumeAt = 0;

  constructor(policy: RetryPolicy) {
    this.policy = policy;
  }

  get isFailing(): boolean {
    return this.failures > 0;
  }

  get resumeAtMs(): number {
    return this.resumeAt;
  }

  get size(): number {
    return this.delayed.length;
  }

  /** A request was processed, whatever became of its events. */
  succeeded(): void {
    this.processed += 1;
    this.failures = 0;
    this.resumeAt = 0;
  }

  /** Its request was not processed. Nothing is sent for `pauseMs` at least: the server's wish. */
  failed(task: Task, pauseMs: number): void {
    const now = performance.now();
    this.failures += 1;
    const waitMs = Math.max(spread(pauseMs), backoffMs(this.policy, this.failures));
    this.resumeAt = Math.max(this.resumeAt, now + waitMs);
    const isOwn = task.processedBefore >= 0 && task.processedBefore < this.processed;
    const ownFailures = task.ownFailures + (isOwn ? 1 : 0);
    const dueAtMs = ownFailures === 0 ? now : now + backoffMs(this.policy, ownFailures);
    this.delayed.push({ ...task, ownFailures, dueAtMs, processedBefore: this.processed });
  }

  /** These of its events could not be stored just now, while others could. */
  later(task: Task, events: EventBatch): void {
    const ownFailures = task.ownFailures + 1;
    const dueAtMs = performance.now() + backoffMs(this.policy, ownFailures);
    this.delayed.push({ ...task, events, ownFailures, dueAtMs });
  }

  /** Parts of it are sent at once, before all others: they are the oldest. */
  again(task: Task, parts: readonly EventBatch[]): void {
    const filled = parts.filter(({ begins }) => begins.length > 0);
    this.delayed.unshift(...filled.map((events) => ({ ...task, events, dueAtMs: 0, processedBefore: -1 })));
  }

  /** One that is due and was not tried since the last request that was processed. */
  takeUntried(nowMs: number): Task | undefined {
    return this.takeFirst((task) => task.dueAtMs <= nowMs && task.processedBefore < this.processed);
  }

  takeDue(nowMs: number): Task | undefined {
    return this.takeFirst((task) => task.dueAtMs <= nowMs);
  }

  /** Infinity when nothing is delayed. */
  nextDueAtMs(): number {
    return Math.min(...this.delayed.map(({ dueAtMs }) => dueAtMs));
  }

  private takeFirst(isIt: (task: Task) => boolean): Task | undefined {
    const at = this.delayed.findIndex(isIt);
    return at < 0 ? undefined : this.delayed.splice(at, 1)[0];
  }
}
