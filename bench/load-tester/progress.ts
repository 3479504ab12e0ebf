import type { Histogram } from 'hdr-histogram-js';
import type { ResponseLedger } from './response-ledger.ts';

export interface Progress {
  responded(events: number): void;
  stop(): void;
}

const EVERY_MS = 1_000;

/** One line a second on stderr; on a terminal it stays one line. */
export function startProgress(rate: number, histogram: Histogram, ledger: ResponseLedger): Progress {
  const end = process.stderr.isTTY ? '\r' : '\n';
  const startedAt = performance.now();
  let last = startedAt;
  let sinceLast = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const perSecond = Math.round((sinceLast * 1_000) / (now - last));
    const at = (percent: number) => (histogram.getValueAtPercentile(percent) / 1_000).toFixed(1);
    const parts = [
      `${Math.round((now - startedAt) / 1_000)} s`,
      `${perSecond} of ${rate} events/s acknowledged`,
      `p50 ${at(50)} ms, p99 ${at(99)} ms`,
      `${ledger.counts().rejected} rejected, ${ledger.faults().length} faults`,
    ];
    process.stderr.write(`${parts.join(' · ')}   ${end}`);
    last = now;
    sinceLast = 0;
  }, EVERY_MS);
  return {
    responded: (events) => {
      sinceLast += events;
    },
    stop: () => {
      clearInterval(timer);
      if (process.stderr.isTTY) process.stderr.write('\n');
    },
  };
}
