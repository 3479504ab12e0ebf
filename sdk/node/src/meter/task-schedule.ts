import { type EventBatch, merged } from './event-batch.ts';
import type { Claim } from './event-queue.ts';
import { backoffMs, type RetryPolicy, spread } from './retry-policy.ts';
import { BATCH_EVENTS_MAX, BODY_BYTES_MAX } from './usage-event.ts';

/** Events of a claim that are sent in one request. */
export interface Task {
  events: EventBatch;
  origin: Origin;
  /** Failures while requests of other tasks were processed: of this one itself. */
  ownFailures: number;
  /** Failures that an event of it may be the reason of. */
  suspicions: number;
  dueAtMs: number;
  /** How many requests had been processed when it last failed. */
  processedBefore: number;
}

/** A claim is settled when the events of all its tasks are. */
export interface Origin {
  claim: Pick<Claim, 'settle' | 'keep'>;
  unsettled: number;
  /** Of what was merged. */
  parts?: Part[];
}

/** So many events of another origin. */
interface Part {
  origin: Origin;
  count: number;
}

export function taskOf(claim: Claim): Task {
  // Without the events: those that are settled are not kept until all are.
  const { events, ...settling } = claim;
  const origin = { claim: settling, unsettled: events.begins.length };
  return { events, origin, ownFailures: 0, suspicions: 0, dueAtMs: 0, processedBefore: -1 };
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
  /** Events that the server could not store while it stored others: they hold up nothing. */
  private deferred: Task[] = [];
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

  /** Without what is deferred. */
  get size(): number {
    return this.delayed.length;
  }

  get deferredEvents(): number {
    return this.deferred.reduce((sum, { events }) => sum + events.begins.length, 0);
  }

  /** A request was processed, whatever became of its events. */
  succeeded(): void {
    this.processed += 1;
    this.failures = 0;
    this.resumeAt = 0;
  }

  /**
   * Its request was not processed. Nothing is sent for `pauseMs` at least: the server's wish. Its parts are
   * sent by themselves then.
   */
  failed(task: Task, pauseMs: number, parts: readonly EventBatch[] = [task.events]): void {
    const now = performance.now();
    this.failures += 1;
    const waitMs = Math.max(spread(pauseMs), backoffMs(this.policy, this.failures));
    this.resumeAt = Math.max(this.resumeAt, now + waitMs);
    const isOwn = task.processedBefore >= 0 && task.processedBefore < this.processed;
    const ownFailures = task.ownFailures + (isOwn ? 1 : 0);
    const dueAtMs = ownFailures === 0 ? now : now + backoffMs(this.policy, ownFailures);
    const processedBefore = this.processed;
    this.delayed.push(...parts.map((events) => ({ ...task, events, ownFailures, dueAtMs, processedBefore })));
  }

  /** These of its events could not be stored just now, while others could. */
  later(task: Task, events: EventBatch): void {
    const ownFailures = task.ownFailures + 1;
    const dueAtMs = performance.now() + backoffMs(this.policy, ownFailures);
    this.deferred.push({ ...task, events, ownFailures, dueAtMs });
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

  /** One that is due, with others that are deferred, as far as one request has them. */
  takeDeferred(nowMs: number): Task | undefined {
    const first = this.deferred.find(({ dueAtMs }) => dueAtMs <= nowMs);
    if (!first) return undefined;
    const together: Task[] = [];
    let [count, bytes] = [0, 0];
    for (const task of [first, ...this.deferred.filter((one) => one !== first)]) {
      count += task.events.begins.length;
      bytes += task.events.body.length;
      if (task !== first && (count > BATCH_EVENTS_MAX || bytes > BODY_BYTES_MAX)) break;
      together.push(task);
    }
    this.deferred = this.deferred.filter((one) => !together.includes(one));
    return together.length === 1 ? first : mergedTask(together);
  }

  /** Infinity when nothing is delayed. */
  nextDueAtMs(): number {
    const first = (tasks: readonly Task[]): number =>
      tasks.reduce((atMs, { dueAtMs }) => Math.min(atMs, dueAtMs), Number.POSITIVE_INFINITY);
    return Math.min(first(this.delayed), first(this.deferred));
  }

  private takeFirst(isIt: (task: Task) => boolean): Task | undefined {
    const at = this.delayed.findIndex(isIt);
    return at < 0 ? undefined : this.delayed.splice(at, 1)[0];
  }
}

/** Their claims are settled when the events of all of them are. */
function mergedTask(tasks: readonly Task[]): Task {
  const parts = tasks.flatMap(partsOf);
  const settle = (): void => {
    for (const { origin, count } of parts) {
      origin.unsettled -= count;
      if (origin.unsettled === 0) origin.claim.settle();
    }
  };
  const ownFailures = Math.max(...tasks.map((task) => task.ownFailures));
  const events = merged(tasks.map((task) => task.events));
  const origin = { claim: { settle }, unsettled: events.begins.length, parts };
  return { events, origin, ownFailures, suspicions: 0, dueAtMs: 0, processedBefore: -1 };
}

/** What was merged before is not kept as a whole, unless it was parted since. */
function partsOf({ events, origin }: Task): Part[] {
  const count = events.begins.length;
  return origin.parts && origin.unsettled === count ? origin.parts : [{ origin, count }];
}
