import { decodeEvent, type EventRejection, type UsageEvent } from './usage-event.ts';

/** Something that people should look at. */
export interface MeterProblem {
  /** Stable; `message` is for people. */
  code: string;
  message: string;
  /** Of the same code since the last report, this one among them. */
  times: number;
}

export interface ReportOptions {
  /** By default the console. What it throws is dropped. */
  onError?: (problem: MeterProblem) => void;
  /** An event that can never be counted. By default it is reported as a problem, without the event. */
  onRejected?: (event: UsageEvent, rejection: EventRejection) => void;
}

/** A problem that lasts is reported this often. */
const EVERY_MS = 60_000;
/** Codes come from responses too. */
const CODES_MAX = 100;

/** Calls what the user gave, and never lets an error of it out. */
export class Reporter {
  private readonly options: ReportOptions;
  private readonly seen = new Map<string, { reportedAtMs: number; times: number }>();

  constructor(options: ReportOptions) {
    this.options = options;
  }

  /** At once for a new code, then at most once a minute. */
  problem(code: string, message: string): void {
    const now = Date.now();
    const seen = this.seen.get(code) ?? { reportedAtMs: Number.NEGATIVE_INFINITY, times: 0 };
    seen.times += 1;
    if (this.seen.size < CODES_MAX) this.seen.set(code, seen);
    if (now - seen.reportedAtMs < EVERY_MS && now >= seen.reportedAtMs) return;
    seen.reportedAtMs = now;
    const { times } = seen;
    seen.times = 0;
    call(() => (this.options.onError ?? printed)({ code, message, times }));
  }

  /** Of an event as it was, or would have been, sent. */
  rejected(event: string | UsageEvent, rejection: EventRejection): void {
    const { onRejected } = this.options;
    const whole = typeof event === 'string' ? decodeEvent(event) : { event };
    if (onRejected && whole) call(() => onRejected(whole.event, rejection));
    else this.problem(rejection.code, `An event was rejected. ${rejection.message}`);
  }
}

/** Also one that returns a promise. */
function call(callback: () => unknown): void {
  try {
    const returned = callback();
    if (returned instanceof Promise) returned.catch(() => undefined);
  } catch {
    // What it does with the notice is its own affair.
  }
}

function printed({ code, message, times }: MeterProblem): void {
  console.warn(`metergate: ${code}: ${message}${times > 1 ? ` (${times} times)` : ''}`);
}
