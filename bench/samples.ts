import { percentile } from '../tests/support/freshness-probe.ts';

/** How long it takes, in milliseconds. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}

export function spreadOf(
  samples: number[],
  round: (ms: number) => number,
): Record<'p50' | 'p99' | 'max', number> {
  const at = (percent: number) => round(percentile(samples, percent));
  return { p50: at(50), p99: at(99), max: at(100) };
}

export function toOneDigit(value: number): number {
  return Math.round(value * 10) / 10;
}
