import type { Histogram } from 'hdr-histogram-js';

const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99];

/** Milliseconds by percentile, out of microseconds: `{ p50, …, p99.99, max, mean, samples }`. */
export function latencies(histogram: Histogram): Record<string, number> {
  const named = PERCENTILES.map(
    (percent) => [`p${percent}`, histogram.getValueAtPercentile(percent)] as const,
  );
  const all = [...named, ['max', histogram.maxValue] as const, ['mean', histogram.mean] as const];
  const inMs = all.map(([name, micros]) => [name, Math.round(micros) / 1_000]);
  return { ...Object.fromEntries(inMs), samples: histogram.totalCount };
}
