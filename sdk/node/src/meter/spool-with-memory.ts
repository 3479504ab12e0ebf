import { eventsOf } from './event-batch.ts';
import type { Added, Claim, EventQueue, TakeLimits } from './event-queue.ts';
import type { MemoryQueue } from './memory-queue.ts';
import type { Reporter } from './report.ts';

/** A queue on disk. */
export interface Spool extends EventQueue {
  /** Called once, before anything else. */
  open(listener: SpoolListener): void;
  stats(): SpoolStats;
  /** What waits stays for the next process. */
  close(): void;
}

export interface SpoolListener {
  problem(code: string, message: string): void;
  /** There are events now that were not added here: a dead process has left them. */
  found(): void;
}

/** Bytes are those of files. */
export interface SpoolStats {
  /** Where the next event goes. */
  mode: 'memory' | 'spool';
  /** Not yet settled. */
  spoolBytes: number;
  /** Taken over from processes that ended, not yet settled. */
  adoptedBytes: number;
  /** Behind damage, since the start. */
  damagedBytes: number;
}

export interface SpoolWithMemoryOptions {
  spool: Spool | undefined;
  memory: MemoryQueue;
  reporter: Reporter;
  onSpoolError: 'memory' | 'drop';
}

/** After an error the spool is tried again this often. */
const TRY_AGAIN_MS = 10_000;
const ALL = { eventsMax: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

/** A spool, and memory where it cannot be written or where there is none. What is in both is sent. */
export class SpoolWithMemory implements EventQueue {
  private readonly options: SpoolWithMemoryOptions;
  private tryAgainAtMs = 0;
  private found: () => void = () => undefined;

  constructor(options: SpoolWithMemoryOptions) {
    this.options = options;
    const { spool, reporter } = options;
    spool?.open({
      problem: (code, message) => reporter.problem(code, message),
      found: () => this.found(),
    });
  }

  onFound(callback: () => void): void {
    this.found = callback;
    if (this.untaken().events > 0) callback();
  }

  add(payload: string, nowMs: number): Added {
    const { spool, memory, onSpoolError } = this.options;
    if (!spool) return memory.add(payload);
    if (!this.isSpoolOut(nowMs)) {
      const added = spool.add(payload, nowMs);
      if (added === 'stored') this.moveToSpool(spool, nowMs);
      if (added !== 'failed') return added;
      this.tryAgainAtMs = nowMs + TRY_AGAIN_MS;
    }
    return onSpoolError === 'memory' ? memory.add(payload) : 'full';
  }

  /** Those in memory first: a crash would lose them. */
  take(limits: TakeLimits): Claim | undefined {
    return this.options.memory.take(limits) ?? this.options.spool?.take(limits);
  }

  waiting(): number {
    return (this.options.spool?.waiting() ?? 0) + this.options.memory.waiting();
  }

  untaken(): { events: number; bytes: number } {
    const inMemory = this.options.memory.untaken();
    const spool = this.options.spool;
    if (!spool) return inMemory;
    const { events, bytes } = spool.untaken();
    return { events: events + inMemory.events, bytes: bytes + inMemory.bytes };
  }

  hasRoom(chars: number): boolean {
    const { spool, memory } = this.options;
    return spool && !this.isSpoolOut(Date.now()) ? spool.hasRoom(chars) : memory.hasRoom(chars);
  }

  stats(): SpoolStats {
    const { spool } = this.options;
    if (!spool) return { mode: 'memory', spoolBytes: 0, adoptedBytes: 0, damagedBytes: 0 };
    return { ...spool.stats(), mode: this.isSpoolOut(Date.now()) ? 'memory' : 'spool' };
  }

  /** What waits in memory alone goes to the spool, even what is being sent: that is counted once. */
  close(): void {
    const { spool, memory, reporter } = this.options;
    if (!spool) return;
    const payloads = memory.unsettled();
    // mutant: memory-lost-at-the-close
    const kept = payloads.findIndex((payload) => spool.add(payload, Date.now()) !== 'stored');
    const lost = kept < 0 ? 0 : payloads.length - kept;
    if (lost > 0) reporter.problem('events_lost', `${lost} events are lost: the spool cannot be written.`);
    spool.close();
  }

  /** The spool is well again: the end of the process would lose what waits in memory. */
  private moveToSpool(spool: Spool, nowMs: number): void {
    const { memory } = this.options;
    for (let claim = memory.take(ALL); claim; claim = memory.take(ALL)) {
      const payloads = eventsOf(claim.events);
      claim.settle();
      const kept = payloads.findIndex((payload) => spool.add(payload, nowMs) !== 'stored');
      if (kept < 0) continue;
      for (const payload of payloads.slice(kept)) memory.add(payload);
      return;
    }
  }

  /** A clock that was set back does not make it wait longer. */
  private isSpoolOut(nowMs: number): boolean {
    return nowMs < this.tryAgainAtMs && nowMs >= this.tryAgainAtMs - TRY_AGAIN_MS;
  }
}
