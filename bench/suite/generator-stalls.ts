import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/** By `performance.now()`, in milliseconds. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

export interface GeneratorStalls {
  /** In the order of time; they do not overlap. */
  spans: Span[];
  /** Of the whole heap, and of the young one. */
  majorCollections: number;
  minorCollections: number;
  longestCollectionMs: number;
}

const TICK_MS = 1;
/** A timer of one millisecond fires within two, since libuv counts whole ones. What is beyond is a stall. */
const ON_TIME_MS = 2;
/** Timers are not more exact than this. */
const STALL_MS_MIN = 0.5;

/**
 * When the generator itself did nothing: it collected its heap, was busy with other responses, or waited for
 * a core. What was due or came meanwhile has this in its time, and the server has nothing to do with it.
 */
export function watchStalls(): { stop(): GeneratorStalls } {
  const found: GeneratorStalls = {
    spans: [],
    majorCollections: 0,
    minorCollections: 0,
    longestCollectionMs: 0,
  };
  let lastMs = performance.now();
  const look = () => {
    const nowMs = performance.now();
    const fromMs = lastMs + ON_TIME_MS;
    if (nowMs - fromMs > STALL_MS_MIN) found.spans.push({ fromMs, untilMs: nowMs });
    lastMs = nowMs;
  };
  const count = (entries: readonly PerformanceEntry[]) => {
    for (const entry of entries) countCollection(found, entry);
  };
  const observer = new PerformanceObserver((list) => count(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const timer = setInterval(look, TICK_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      count(observer.takeRecords());
      observer.disconnect();
      return found;
    },
  };
}

function countCollection(found: GeneratorStalls, entry: PerformanceEntry): void {
  const { kind } = (entry as PerformanceEntry & { detail: { kind: number } }).detail;
  if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) found.majorCollections++;
  if (kind === constants.NODE_PERFORMANCE_GC_MINOR) found.minorCollections++;
  found.longestCollectionMs = Math.max(found.longestCollectionMs, entry.duration);
}

/** How much of it lay in stalls, which are in the order of time. */
export function stalledMs({ fromMs, untilMs }: Span, stalls: readonly Span[]): number {
  let sum = 0;
  for (let at = firstEndingAfter(fromMs, stalls); at < stalls.length; at++) {
    const stall = stalls[at] as Span;
    if (stall.fromMs >= untilMs) break;
    sum += Math.min(untilMs, stall.untilMs) - Math.max(fromMs, stall.fromMs);
  }
  return sum;
}

function firstEndingAfter(ms: number, stalls: readonly Span[]): number {
  let [low, high] = [0, stalls.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stalls[middle] as Span).untilMs > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
