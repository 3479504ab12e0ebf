import { returnOf } from './body-buffers.ts';
import { batchOf, eventsOf } from './event-batch.ts';
import type { Added, Claim, EventQueue, TakeLimits } from './event-queue.ts';

export interface MemoryLimits {
  eventsMax: number;
  /** Counted as characters: to count the bytes of UTF-8 would take as long as all the rest of a call. */
  bytesMax: number;
}

/** Events of a claim that are not settled. */
interface Taken {
  payloads: string[];
  chars: number;
}

/** Lost with the process. What was taken counts against the limits until it is settled. */
export class MemoryQueue implements EventQueue {
  private readonly limits: MemoryLimits;
  /** Those before `first` are taken. They are removed now and then, which moves all the others. */
  private payloads: string[] = [];
  private first = 0;
  private readonly taken = new Set<Taken>();
  private count = 0;
  private chars = 0;
  private untakenChars = 0;

  constructor(limits: MemoryLimits) {
    this.limits = limits;
  }

  add(payload: string): Added {
    if (!this.hasRoom(payload.length)) return 'full';
    this.payloads.push(payload);
    this.count += 1;
    this.chars += payload.length;
    this.untakenChars += payload.length;
    return 'stored';
  }

  take({ eventsMax, bytesMax }: TakeLimits): Claim | undefined {
    const from = this.first;
    let bytes = 0;
    for (; this.first < this.payloads.length && this.first - from < eventsMax; this.first++) {
      const size = bytesOf(this.payloads[this.first] ?? '');
      if (this.first > from && bytes + size > bytesMax) break;
      bytes += size;
    }
    const payloads = this.payloads.slice(from, this.first);
    if (payloads.length === 0) return undefined;
    const taken: Taken = { payloads, chars: charsOf(payloads) };
    this.taken.add(taken);
    this.untakenChars -= taken.chars;
    this.forgetTaken();
    const events = batchOf(payloads);
    const giveBack = returnOf(events.body);
    return {
      events,
      settle: () => {
        giveBack();
        this.shrink(taken, []);
        this.taken.delete(taken);
      },
      keep: (kept) => {
        this.shrink(taken, eventsOf(kept));
        giveBack();
      },
    };
  }

  /** Everything that is not settled, whether it was taken or not. */
  unsettled(): string[] {
    const taken = [...this.taken].flatMap(({ payloads }) => payloads);
    return [...taken, ...this.payloads.slice(this.first)];
  }

  private shrink(taken: Taken, payloads: string[]): void {
    const chars = charsOf(payloads);
    this.count -= taken.payloads.length - payloads.length;
    this.chars -= taken.chars - chars;
    Object.assign(taken, { payloads, chars });
  }

  waiting(): number {
    return this.count;
  }

  untaken(): { events: number; bytes: number } {
    return { events: this.payloads.length - this.first, bytes: this.untakenChars };
  }

  hasRoom(chars: number): boolean {
    return this.count < this.limits.eventsMax && this.chars + chars <= this.limits.bytesMax;
  }

  private forgetTaken(): void {
    if (this.first * 2 < this.payloads.length) return;
    this.payloads = this.payloads.slice(this.first);
    this.first = 0;
  }
}

function charsOf(payloads: readonly string[]): number {
  return payloads.reduce((sum, payload) => sum + payload.length, 0);
}

/** Of UTF-8, at most: a surrogate pair is counted as six bytes and is four. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
  }
  return bytes;
}
