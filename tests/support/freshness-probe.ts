import { setTimeout as pass } from 'node:timers/promises';
import { type Api, getPatiently } from './api.ts';
import { numberText } from './exact.ts';

/** Measures the time from a response until its event is counted in `GET /usage` without waiting. */
export interface FreshnessProbe {
  /** Stops and gives all the times seen, in milliseconds. */
  stop(): Promise<number[]>;
}

const SEND_EVERY_MS = 50;
/**
 * A read under load costs the server up to 18 ms of CPU: ten a second took a fifth of a core from the load.
 * The price is that the times are up to this much too long.
 */
const READ_EVERY_MS = 250;
const DRAIN_MS = 30_000;

/** Events of 1 on a meter of the probe's own: the counter shows how many of them are counted. */
export function startFreshnessProbe(api: Api, customerId: string, meterKey: string): FreshnessProbe {
  const waiting: number[] = [];
  const seen: number[] = [];
  let counted = 0;
  let stopping = false;
  const sending = repeat(
    SEND_EVERY_MS,
    () => stopping,
    async (at) => {
      const body = JSON.stringify({ customerId, meterId: meterKey, value: 1 });
      const response = await api.call('POST', '/usage/events', {
        body,
        headers: { 'idempotency-key': `${meterKey}-${at}` },
      });
      if (response.status === 201) waiting.push(performance.now());
    },
  );
  const path = `/usage/${customerId}/${meterKey}?consistency=eventual`;
  const reading = repeat(
    READ_EVERY_MS,
    () => stopping && waiting.length === 0,
    async () => {
      const response = await getPatiently(api, path, DRAIN_MS);
      // The meter is made by its first event: until then there is nothing to read.
      const current =
        response.status === 404 ? 0 : Number(numberText((response.body as { current: unknown }).current));
      const now = performance.now();
      for (; counted < current; counted++) seen.push(now - (waiting.shift() ?? now));
    },
  );
  // stop() reports it; until then the rejection is unhandled, and an unhandled rejection ends the process.
  for (const one of [sending, reading]) one.catch(() => undefined);
  return {
    async stop() {
      stopping = true;
      await Promise.all([sending, reading]);
      return seen;
    },
  };
}

async function repeat(
  everyMs: number,
  isOver: () => boolean,
  act: (at: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const startedAt = performance.now();
    await act(at);
    await pass(Math.max(0, everyMs - (performance.now() - startedAt)));
  }
}

export function percentile(samples: number[], percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
