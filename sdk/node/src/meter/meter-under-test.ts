import { onTestFinished } from 'vitest';
import { type Act, sendJson } from './batch-server-under-test.ts';
import { createMeter, type MeterOptions } from './meter.ts';
import type { MeterProblem } from './report.ts';
import type { EventRejection, UsageEvent } from './usage-event.ts';

export const IN_TIME = { timeoutMs: 10_000 };
const RETRY = { firstMs: 2, lastMs: 20, unauthorisedMs: 30 };

interface Options extends Partial<MeterOptions> {
  url: string;
}

/** A meter that retries within milliseconds, closed at the end of the test. */
export function openMeter(options: Options) {
  const problems: MeterProblem[] = [];
  /** By their keys. */
  const rejected: Array<[key: string | undefined, rejection: EventRejection]> = [];
  const meter = createMeter({
    apiKey: 'sk_test_1',
    lingerMs: 10,
    retry: RETRY,
    onError: (problem) => void problems.push(problem),
    onRejected: (event, rejection) => void rejected.push([event?.idempotencyKey, rejection]),
    ...options,
  });
  onTestFinished(async () => void (await meter.close({ timeoutMs: 0 })));
  return { meter, problems, rejected };
}

export function event(more: Partial<UsageEvent> = {}): UsageEvent {
  return { customerId: 'acme', meterId: 'calls', value: 1, ...more };
}

/** Events of the keys k-0, k-1 and so on. */
export function keyed(count: number): UsageEvent[] {
  return Array.from({ length: count }, (_, at) => event({ idempotencyKey: `k-${at}` }));
}

export const text =
  (status: number, body: string, headers: Record<string, string> = {}): Act =>
  ({ response }) => {
    response.writeHead(status, headers);
    response.end(body);
  };
export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Act =>
  ({ response }) =>
    sendJson(response, status, body, headers);
