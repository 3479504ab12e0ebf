/**
 * At this time the log's durable end was `end`: everything acknowledged before the time is before that
 * position.
 */
export interface DurableSample {
  /** Taken before the end was read, milliseconds since 1970. */
  atMs: number;
  end: number;
}

export interface DurableSamples {
  add(sample: DurableSample): void;
  /** Everything before this position is counted. */
  loaded(position: number): void;
  /** The clock was set back: no sample may be of a later time than this. */
  setBack(toMs: number): void;
  /** Time of the latest sample whose end is loaded; undefined when there is none. */
  latestLoadedMs(): number | undefined;
}

/** With samples 20 ms apart this is a lag of more than a minute; beyond it the oldest are dropped. */
const SAMPLES_MAX = 4_096;
const APART_MS = 20;

/** A bounded list of samples in the order of time. Of the loaded ones only the latest is kept. */
export function createDurableSamples(): DurableSamples {
  let waiting: DurableSample[] = [];
  let latestMs: number | undefined;
  let position = 0;

  return {
    add(sample) {
      if (sample.end <= position) {
        if (waiting.length === 0) latestMs = Math.max(latestMs ?? 0, sample.atMs);
        return;
      }
      const last = waiting.at(-1);
      const before = waiting.at(-2);
      // Concurrent reads may finish in another order; the later one is more accurate.
      if (last && (sample.atMs <= last.atMs || sample.end < last.end)) return;
      const isClose = before && last && last.atMs - before.atMs < APART_MS;
      // A later sample of the same end is more accurate, and of two close ones the later is sufficient.
      if (last?.end === sample.end || isClose) waiting.pop();
      else if (waiting.length >= SAMPLES_MAX) waiting.shift();
      waiting.push(sample);
    },
    loaded(to) {
      position = Math.max(position, to);
      const firstOpen = waiting.findIndex(({ end }) => end > position);
      const done = firstOpen < 0 ? waiting : waiting.slice(0, firstOpen);
      waiting = firstOpen < 0 ? [] : waiting.slice(firstOpen);
      latestMs = done.at(-1)?.atMs ?? latestMs;
    },
    setBack(toMs) {
      waiting = waiting.map(({ atMs, end }) => ({ atMs: Math.min(atMs, toMs), end }));
      if (latestMs !== undefined) latestMs = Math.min(latestMs, toMs);
    },
    latestLoadedMs: () => latestMs,
  };
}
